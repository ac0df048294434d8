import { PRICES, VCPU_MEMORY_MB } from '../prices.ts'

/** Usage of each service. */
export interface Usage {
  apiRequests: number
  invocations: number
  gbSeconds: number
  readUnits: number
  writeUnits: number
  queueRequests: number
  /** Requests with a message group. */
  fairRequests: number
  busEvents: number
  /** Write units on the index of overdue work and on the platform's counters. */
  dueUnits: number
  counterUnits: number
  /** Bytes stored in the table. */
  storedBytes: number
  logBytes: number
  bytesOut: number
  secretReads: number
}

const NONE: Usage = {
  apiRequests: 0,
  invocations: 0,
  gbSeconds: 0,
  readUnits: 0,
  writeUnits: 0,
  queueRequests: 0,
  fairRequests: 0,
  busEvents: 0,
  dueUnits: 0,
  counterUnits: 0,
  storedBytes: 0,
  logBytes: 0,
  bytesOut: 0,
  secretReads: 0,
}

/** Adds parts, each multiplied by a number. */
export const total = (...parts: readonly [usage: Partial<Usage>, times: number][]): Usage => {
  const sum = { ...NONE }
  for (const [usage, times] of parts) {
    for (const [field, value] of Object.entries(usage)) sum[field as keyof Usage] += value * times
  }
  return sum
}

export interface Execution {
  /** CPU time on a whole core. */
  cpuMs: number
  /** Time of waiting for others. */
  waitMs: number
  memoryMb: number
}

/** Returns the minimum of seconds: waiting, and the CPU at the share of a core that comes with the memory. */
export const seconds = ({ cpuMs, waitMs, memoryMb }: Execution): number => {
  const slowdown = Math.max(1, VCPU_MEMORY_MB / memoryMb)
  return (cpuMs * slowdown + waitMs) / 1_000
}

/** Returns the minimum of billed gigabyte-seconds. */
export const gbSeconds = (execution: Execution): number => seconds(execution) * (execution.memoryMb / 1_024)

/** Dollars by service. */
export type Cost = Record<
  'gateway' | 'webAcl' | 'lambda' | 'dynamodb' | 'sqs' | 'bus' | 'logs' | 'secrets' | 'transfer',
  number
>

const GB = 1e9

/** Computes the cost of a usage. */
export const costOf = (usage: Usage, prices: typeof PRICES = PRICES): Cost => {
  const { million } = prices
  const millions = (count: number, price: number): number => (count / 1e6) * price
  return {
    gateway: millions(usage.apiRequests, million.apiGatewayRestRequests),
    webAcl: millions(usage.apiRequests, million.webAclRequests),
    lambda: millions(usage.invocations, million.lambdaRequests) + usage.gbSeconds * prices.lambdaArmGbSecond,
    dynamodb:
      millions(usage.readUnits, million.dynamodbReadUnits) + millions(usage.writeUnits, million.dynamodbWriteUnits),
    sqs: millions(usage.queueRequests, million.sqsRequests) + millions(usage.fairRequests, million.sqsFairSurcharge),
    bus: millions(usage.busEvents, million.eventBridgeEvents),
    logs: (usage.logBytes / GB) * prices.cloudWatchLogsGb,
    secrets: millions(usage.secretReads, million.secretReads),
    transfer: (usage.bytesOut / GB) * prices.dataOutGb,
  }
}
