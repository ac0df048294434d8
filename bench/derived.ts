import path from 'node:path'
import { Settings } from '#infra/settings.ts'
import { costTables, type Sources } from './cost.ts'
import { storeUseTables } from './endpoints.ts'
import { idleTables } from './idle.ts'
import { protocolTables } from './protocols.ts'
import type { Table } from './report/table.ts'
import { tabTables } from './tabs.ts'
import { workloadTables } from './workload.ts'

/** Returns the limits of a stage with default settings. */
const stageLimits = () => {
  const { throttle, directoryShards, dueShards } = Settings.parse({})
  return { throttle: throttle.rate, shards: directoryShards, dueShards }
}

/** Parts whose tables follow from the code, the templates, the prices and the recorded measurements. */
export const DERIVED = {
  endpoints: ({ store }) => storeUseTables(store),
  cost: costTables,
  protocols: ({ store }) => protocolTables(store),
  workload: (sources) => workloadTables(sources, stageLimits()),
  tabs: tabTables,
  idle: idleTables,
} as const satisfies Record<string, (sources: Sources) => Table[] | Promise<Table[]>>

export type DerivedPart = keyof typeof DERIVED

export const isDerived = (part: string): part is DerivedPart => part in DERIVED

/** Parts whose tables are only for the platform's developers. The pages in docs are for users and operators. */
const OF_DEVELOPERS = new Set(['endpoints', 'lists', 'cpu', 'records'])

/** Returns the file that shows a table of a part. */
const fileOf = (part: string, { document }: Table): string => {
  if (OF_DEVELOPERS.has(part) || document === 'results') return path.join(import.meta.dirname, `results/${part}.md`)
  return path.resolve(import.meta.dirname, '../docs', `${document ?? 'performance'}.md`)
}

/** Groups the tables of a part by the file that shows them. */
export const byFile = (part: string, tables: readonly Table[]): Map<string, Table[]> =>
  Map.groupBy(tables, (table) => fileOf(part, table))
