import { TABLE_LAYOUT } from './layout.ts'

// Limits of DynamoDB that the stores of the local run and of tests don't check (DynamoDB developer guide, "Quotas").
const MAX_OPERANDS = 100
const MAX_BYTES = { partitionKey: 2_048, sortKey: 1_024 }

const KEYS = [TABLE_LAYOUT, ...Object.values(TABLE_LAYOUT.indexes)].flatMap(({ partitionKey, sortKey }) => [
  [partitionKey, MAX_BYTES.partitionKey] as const,
  [sortKey, MAX_BYTES.sortKey] as const,
])

/** Error as DynamoDB answers it. */
const invalid = (message: string): Error => Object.assign(new Error(message), { name: 'ValidationException' })

/** @throws Error when an `IN` has more values than DynamoDB takes */
export const checkOperands = (field: string, values: readonly unknown[]): void => {
  if (values.length > MAX_OPERANDS)
    throw invalid(`The IN of ${field} has ${values.length} operands. The limit is ${MAX_OPERANDS}.`)
}

/** @throws Error when a key of the table or of an index is longer than DynamoDB takes */
export const checkKeys = (attributes: Record<string, unknown>): void => {
  for (const [name, most] of KEYS) {
    const value = attributes[name]
    if (typeof value !== 'string' || value.length <= most / 3) continue
    const bytes = Buffer.byteLength(value)
    if (bytes > most) throw invalid(`The key ${name} has ${bytes} bytes. The limit is ${most}: ${value.slice(0, 100)}…`)
  }
}
