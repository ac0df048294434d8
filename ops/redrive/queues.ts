import { pascal } from '#infra/plan.ts'
import { QUEUE_NAMES, type QueueName } from '#shared/kernel/queue-names.ts'
import { OperatorError } from '../command.ts'

/** Dead-letter queue, and the sender that gave the messages up. */
export type DeadLetters = {
  /** The name in `GET /admin/health` and in alarms. */
  name: 'failed' | 'undelivered' | 'unrelayed'
  url: string
  /** `queue`: a worker failed too often. `bus`: a rule could not put the event into its queue. `stream`: the relay gave up. */
  from: 'queue' | 'bus' | 'stream'
}

/** All queues of a stage. */
export type StageQueues = { deadLetters: DeadLetters[]; working: Map<QueueName, string> }

const FROM = { failed: 'queue', undelivered: 'bus', unrelayed: 'stream' } as const

/**
 * Finds the queues among a stack's resources.
 *
 * @param resources logical ids and addresses of the queues
 * @throws {OperatorError} if one is missing
 */
export function parseQueues(resources: readonly { id: string; url: string }[]): StageQueues {
  // A logical id consists of the names of the nested constructs and a digest.
  const urlOf = (id: string): string => {
    const found = resources.find((one) => new RegExp(`^Messaging${id}[0-9A-F]{8}$`).test(one.id))
    if (found === undefined) throw new OperatorError(`The stack has no queue ${id}. Deploy it again first.`)
    return found.url
  }
  return {
    deadLetters: (Object.keys(FROM) as DeadLetters['name'][]).map((name) => ({
      name,
      url: urlOf(pascal(name)),
      from: FROM[name],
    })),
    working: new Map(QUEUE_NAMES.map((name) => [name, urlOf(pascal(name))])),
  }
}

/**
 * Finds the queues of a deployed stage.
 *
 * @throws {OperatorError} if there is no such stack
 */
export async function findQueues(stackName: string): Promise<StageQueues> {
  const { CloudFormationClient, paginateListStackResources } = await import('@aws-sdk/client-cloudformation')
  const found: { id: string; url: string }[] = []
  try {
    const pages = paginateListStackResources({ client: new CloudFormationClient({}) }, { StackName: stackName })
    for await (const { StackResourceSummaries = [] } of pages) {
      for (const { ResourceType, LogicalResourceId: id, PhysicalResourceId: url } of StackResourceSummaries) {
        if (ResourceType === 'AWS::SQS::Queue' && id !== undefined && url !== undefined) found.push({ id, url })
      }
    }
  } catch (error) {
    throw new OperatorError(`The stack ${stackName} cannot be read: ${(error as Error).message}`)
  }
  return parseQueues(found)
}
