import type { StaffWork } from '#shared/domain/admins/audit.ts'
import { systemClock } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import { createStoreClient } from '#shared/table/client.ts'
import { Table } from '#shared/table/table.ts'

/** The stack cannot be used as it is. The message says why and what to do. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

/**
 * The table of a deployed stage, from the outputs of its stack.
 *
 * @throws {OperatorError} if there is no such stack, or it is from before there was this output
 */
export async function findTable(stackName: string): Promise<string> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation')
  const client = new CloudFormationClient({})
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName })).catch((error) => {
    throw new OperatorError(`The stack ${stackName} cannot be read: ${error.message}`)
  })
  const name = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'TableName')?.OutputValue
  if (name === undefined)
    throw new OperatorError(`The stack ${stackName} has no output TableName. Deploy it again first.`)
  return name
}

/** What the operator’s changes are made with: the same writes as the admin API’s, to the same table. */
export function operatorWork(tableName: string, shards: number): StaffWork {
  const table = new Table({ client: createStoreClient(), tableName, shards, checkWrites: true })
  return {
    table,
    clock: systemClock,
    requestId: newId('request', systemClock.now()),
    sourceIp: undefined,
    id: (kind) => newId(kind, systemClock.now()),
    commit: (writes) => table.transact(writes),
  }
}
