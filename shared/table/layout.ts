/** Attribute names of the table. Infra builds the table from this. No other code contains these names. */
export const TABLE_LAYOUT = {
  partitionKey: 'pk',
  sortKey: 'sk',
  ttl: 'ttl',
  entity: '_e',
  /**
   * Keys-only global indexes.
   * - `due`: items by due time (sparse, sharded)
   * - `directory`: cross-tenant lists, by day and shard
   * - `list`: one owner's list narrowed by a field, such as an installation's runs by status
   */
  indexes: {
    due: { partitionKey: 'duepk', sortKey: 'duesk' },
    directory: { partitionKey: 'dirpk', sortKey: 'dirsk' },
    list: { partitionKey: 'listpk', sortKey: 'listsk' },
  },
} as const

export type IndexName = keyof typeof TABLE_LAYOUT.indexes

/** Indexes of the audit's table, which otherwise has the same layout. */
export const AUDIT_INDEXES = ['directory', 'list'] as const satisfies IndexName[]
