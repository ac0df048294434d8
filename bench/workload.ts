import { QUEUES } from '#shared/foundation/queues/queues.ts'
import { costOf, type Usage } from './cost/usage.ts'
import { SERVICES, type Sources, usesOf } from './cost.ts'
import { PRICES } from './prices.ts'
import type { Table } from './report/table.ts'
import { type Limits, type Need, needsOf, PER_EVENT, secondOf } from './workload/load.ts'

/** Events a second. */
const LOADS = [1, 100, 10_000] as const

const HOURS = 730
const SECONDS = HOURS * 3_600
/** Days for which runs with their records, and deliveries, are kept. */
const KEPT = { run: 90, delivery: 30 } as const

const amount = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value >= 10 ? 1 : 2)

/** Returns the gigabytes in the table once as much expires as is added. */
export const storedGb = (sources: Sources, events: number): number => {
  const { run, delivery } = usesOf(sources)
  const day = 86_400 * events
  const bytes =
    day * PER_EVENT.runs * KEPT.run * run.storedBytes +
    day * PER_EVENT.deliveries * KEPT.delivery * delivery.storedBytes
  return bytes / 1e9
}

const monthOf = (sources: Sources, events: number): string[] => {
  const second = secondOf(sources, events)
  const cost = costOf(second)
  const parts = Object.values(cost).map((dollars) => dollars * SECONDS)
  const gb = storedGb(sources, events)
  const storage = gb * (PRICES.gigabyte.recordsKept + PRICES.dynamodbRecoveryGb)
  return [amount(events), ...[...parts, storage, [...parts, storage].reduce((all, one) => all + one, 0)].map(amount)]
}

/** Load at which provisioned capacity is kept, and a day's peak as a multiple of its mean. */
const UTILIZATION = 0.7
const PEAK = 3

/** Returns the dollars of a month's units if they are provisioned for `times` the mean. */
const provisionedMonth = ({ readUnits, writeUnits }: Usage, times: number): number => {
  const { readUnitHour, writeUnitHour } = PRICES.dynamodbProvisioned
  return ((readUnits * readUnitHour + writeUnits * writeUnitHour) * HOURS * times) / UTILIZATION
}

/** Compares the table's capacity on demand with capacity that is provisioned (setting `tableCapacity`). */
export const capacityTable = (sources: Sources): Table => ({
  title: 'The table’s units in US dollars a month, on demand and provisioned',
  columns: [
    'events a second',
    'writes a second',
    'on demand',
    'provisioned, even load',
    `provisioned for ${PEAK} times the mean`,
  ],
  rows: LOADS.map((events) => {
    const second = secondOf(sources, events)
    return [
      events,
      second.writeUnits,
      costOf(second).dynamodb * SECONDS,
      provisionedMonth(second, 1),
      provisionedMonth(second, PEAK),
    ].map(amount)
  }),
  notes: [
    `Provisioned capacity is scaled to ${100 * UTILIZATION} % utilization, within minutes. It is cheaper while the mean is above ${Math.round((100 * PRICES.dynamodbProvisioned.writeUnitHour * 1e6) / (3_600 * PRICES.million.dynamodbWriteUnits))} % of what is provisioned. A sudden peak above it is throttled, where a table on demand takes twice its highest load. Start on demand with \`maxWrites\` as a limit of the bill. Provision once a month of metrics shows an even load. The minimum of each index counts as well.`,
  ],
})

/** Lists how much of each limit the loads use, and at how many runs a second it is reached, scarcest first (docs/scale.md). */
export const limitsTable = (sources: Sources, limits: Limits): Table => {
  // A load under which batches are full.
  const [, busy] = LOADS
  const needs = LOADS.map((events) => needsOf(sources, events, limits))
  const share = (name: string, of: readonly Need[]): string => {
    const need = of.find(({ quota }) => quota.name === name)
    return need ? `${amount((100 * need.needed) / need.quota.limit)} %` : '–'
  }
  return {
    title: 'Limits in the order in which a growing load reaches them',
    document: 'scale',
    columns: [
      'limit',
      'default',
      'reached at, in runs a second',
      ...LOADS.map((events) => `used at ${events.toLocaleString('en')}`),
      'raised by',
    ],
    rows: needsOf(sources, busy, limits).map(({ quota, needed }) => [
      quota.name,
      quota.limit.toLocaleString('en'),
      amount((busy * PER_EVENT.runs * quota.limit) / needed),
      ...needs.map((of) => share(quota.name, of)),
      quota.raised,
    ]),
    notes: [
      `One run a second comes with ${1 / PER_EVENT.runs} events, ${PER_EVENT.deliveries / PER_EVENT.runs} deliveries and ${PER_EVENT.calls / PER_EVENT.runs} API calls. “Used” is the share at 1, 100 and 10,000 events a second.`,
    ],
  }
}

/** Builds the tables of a workload's monthly cost and of the limits that it meets. */
export const workloadTables = (sources: Sources, limits: Limits): Table[] => [
  {
    title: `A month in US dollars (${PRICES.region}, list prices of ${PRICES.date})`,
    columns: ['events a second', ...SERVICES, 'storage', 'together'],
    rows: LOADS.map((events) => monthOf(sources, events)),
    notes: [
      `One event a second comes with ${PER_EVENT.runs} runs, ${PER_EVENT.deliveries} webhook delivery and ${PER_EVENT.calls} API calls of the mix above, all day, for ${HOURS} hours. From 100 events a second on, the statistics count a hundred at once: each of Lambda’s five initial pollers gathers that many in its window of ${QUEUES.statistics.windowSeconds} seconds.`,
      `Storage: the table after ${KEPT.run} days, with point-in-time recovery. Records of a run count as kept for ${KEPT.run} days, deliveries for ${KEPT.delivery}. The bucket, the indexes’ keys and DynamoDB’s 100 bytes per item aren’t included, nor are a stage’s fixed costs, free tiers and discounts.`,
    ],
  },
  capacityTable(sources),
  limitsTable(sources, limits),
]
