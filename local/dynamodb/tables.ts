import type { TableModel } from '../template/model.ts'
import { type DynamodbCall, DynamodbError } from './client.ts'

interface Description {
  Table: {
    LatestStreamArn?: string
    TableStatus: string
    KeySchema: unknown
    GlobalSecondaryIndexes?: { IndexName: string; KeySchema: unknown; Projection: { ProjectionType: string } }[]
  }
}

/** Returns the parts that must match between the existing table and the template. */
const shapeOf = (keys: unknown, indexes: unknown): string => {
  const list = (indexes ?? []) as { IndexName: string; KeySchema: unknown; Projection: { ProjectionType: string } }[]
  const parts = list.map(({ IndexName, KeySchema, Projection }) => [IndexName, KeySchema, Projection?.ProjectionType])
  return JSON.stringify([keys, parts.sort((a, b) => String(a[0]).localeCompare(String(b[0])))], (_, value) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a.localeCompare(b)))
      : value,
  )
}

const describe = async (call: DynamodbCall, name: string): Promise<Description | undefined> => {
  try {
    return await call<Description>('DynamoDB_20120810.DescribeTable', { TableName: name })
  } catch (error) {
    if (error instanceof DynamodbError && error.code === 'ResourceNotFoundException') return undefined
    throw error
  }
}

/**
 * Creates the template's table unless it exists.
 *
 * @returns the ARN of its stream, if it has one
 * @throws Error when a table from an earlier run has other keys or indexes than the template
 */
export const ensureTable = async (call: DynamodbCall, model: TableModel): Promise<string | undefined> => {
  const existing = await describe(call, model.name)
  if (existing) {
    const { KeySchema, GlobalSecondaryIndexes } = existing.Table
    const wanted = shapeOf(model.properties.KeySchema, model.properties.GlobalSecondaryIndexes)
    if (shapeOf(KeySchema, GlobalSecondaryIndexes) !== wanted) {
      throw new Error('The table in the data folder has other keys or indexes than the template. Start with --fresh.')
    }
    return existing.Table.LatestStreamArn
  }
  await call('DynamoDB_20120810.CreateTable', model.properties)
  if (model.ttlAttribute) {
    const specification = { Enabled: true, AttributeName: model.ttlAttribute }
    const input = { TableName: model.name, TimeToLiveSpecification: specification }
    await call('DynamoDB_20120810.UpdateTimeToLive', input)
  }
  return (await describe(call, model.name))?.Table.LatestStreamArn
}
