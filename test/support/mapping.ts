/** How a source names its fields and words. Only such a source can share backups. */
export const MAPPING = {
  fields: { server: 'data.server_id', backup: 'data.backup_id' },
  kinds: { 'backup.started': ['backup.started'] },
};
