import { BillingMode, type Table, type TableProps } from 'aws-cdk-lib/aws-dynamodb'
import type { Config } from './config.ts'

type Capacity = Pick<Config, 'tableCapacity'>

/** Returns the capacity of an index: limits and warm throughput on demand, or the least that is provisioned. */
export const indexCapacityProps = ({ tableCapacity: given }: Capacity) => ({
  ...('provisioned' in given
    ? { readCapacity: given.provisioned.reads.min, writeCapacity: given.provisioned.writes.min }
    : {
        ...(given.maxReads !== undefined && { maxReadRequestUnits: given.maxReads }),
        ...(given.maxWrites !== undefined && { maxWriteRequestUnits: given.maxWrites }),
      }),
  ...((given.warmReads ?? given.warmWrites) !== undefined && {
    warmThroughput: {
      ...(given.warmReads !== undefined && { readUnitsPerSecond: given.warmReads }),
      ...(given.warmWrites !== undefined && { writeUnitsPerSecond: given.warmWrites }),
    },
  }),
})

/** Returns the capacity of the table. */
export const capacityProps = (config: Capacity): Partial<TableProps> => ({
  ...indexCapacityProps(config),
  billingMode: 'provisioned' in config.tableCapacity ? BillingMode.PROVISIONED : BillingMode.PAY_PER_REQUEST,
})

/** Scales provisioned capacity with the load. An index that is written too slowly throttles the table, so each scales like it. */
export function scaleCapacity(table: Table, indexes: readonly string[], { tableCapacity }: Capacity): void {
  if (!('provisioned' in tableCapacity)) return
  const { reads, writes, utilization: targetUtilizationPercent } = tableCapacity.provisioned
  const range = ({ min, max }: typeof reads) => ({ minCapacity: min, maxCapacity: max })
  table.autoScaleReadCapacity(range(reads)).scaleOnUtilization({ targetUtilizationPercent })
  table.autoScaleWriteCapacity(range(writes)).scaleOnUtilization({ targetUtilizationPercent })
  for (const index of indexes) {
    table
      .autoScaleGlobalSecondaryIndexReadCapacity(index, range(reads))
      .scaleOnUtilization({ targetUtilizationPercent })
    table
      .autoScaleGlobalSecondaryIndexWriteCapacity(index, range(writes))
      .scaleOnUtilization({ targetUtilizationPercent })
  }
}
