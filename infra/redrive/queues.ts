import { QUEUE_NAMES, type QueueName } from '#shared/kernel/queue-names.ts'
import { OperatorError } from '../operator/command.ts'
import { pascal } from '../plan.ts'

/** A queue of dead letters, and by whom they were given up. */
export type DeadLetters = {
  /** `fanout-failed`, `undelivered`, `unrelayed`: as `GET /admin/health` and the alarms call it. */
  name: string
  url: string
  /** `queue`: its worker failed too often. `bus`: a rule could not put the event into its queue. `stream`: the relay gave up. */
  from: 'queue' | 'bus' | 'stream'
}

/** All of a stage's queues. */
export type StageQueues = { deadLetters: DeadLetters[]; working: Map<QueueName, string> }

const OTHERS = { undelivered: 'bus', unrelayed: 'stream' } as const

/**
 * Finds the queues among a stack's resources.
 *
 * @param resources logical id, and the queue's address
 * @throws {OperatorError} if one is missing
 */
export function queuesOf(resources: readonly { id: string; url: string }[]): StageQueues {
  // A logical id is the names of the constructs above each other, and a digest.
  const urlOf = (id: string): string => {
    const found = resources.find((one) => new RegExp(`^Messaging${id}[0-9A-F]{8}$`).test(one.id))
    if (found === undefined) throw new OperatorError(`The stack has no queue ${id}. Deploy it again first.`)
    return found.url
  }
  return {
    deadLetters: [
      ...QUEUE_NAMES.map(
        (name): DeadLetters => ({ name: `${name}-failed`, url: urlOf(`${pascal(name)}Failed`), from: 'queue' }),
      ),
      ...Object.entries(OTHERS).map(([name, from]): DeadLetters => ({ name, url: urlOf(pascal(name)), from })),
    ],
    working: new Map(QUEUE_NAMES.map((name) => [name, urlOf(pascal(name))])),
  }
}

/**
 * The queues of a deployed stage.
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
  return queuesOf(found)
}
