import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsError } from '../error.ts'
import type { Queue } from './queue.ts'

/** The parts of the queues that move tasks need. */
export interface MoveDeps {
  queues: () => Iterable<Queue>
  byArn: (arn: string) => Queue | undefined
  now: () => number
  /** Called with the error that ended a move. */
  onError: (error: unknown) => void
}

interface MoveInput {
  SourceArn?: string
  DestinationArn?: string
  MaxNumberOfMessagesPerSecond?: number
  MaxResults?: number
  TaskHandle?: string
}

interface Task {
  handle: string
  source: string
  destination: string | undefined
  rate: number | undefined
  status: 'RUNNING' | 'COMPLETED' | 'CANCELLED' | 'FAILED'
  failure?: string
  moved: number
  toMove: number
  startedAt: number
}

/** Maximum number of messages that AWS moves per second. */
const MAX_RATE = 500
const AT_ONCE = 10
const HOLD_SECONDS = 30

const invalid = (name: string, value: unknown, reason: string) =>
  new AwsError('InvalidParameterValue', `Value ${value} for parameter ${name} is invalid. Reason: ${reason}`)

/**
 * Creates StartMessageMoveTask and its related operations. Dead letters return to the queues that gave them up, as new messages.
 */
export const createMoves = ({ queues, byArn, now, onError }: MoveDeps) => {
  /** Newest first. */
  const tasks: Task[] = []

  const queueAt = (name: 'SourceArn' | 'DestinationArn', arn: string | undefined): Queue => {
    const queue = byArn(arn ?? '')
    if (queue) return queue
    const message = `The resource that you specified for the ${name} parameter doesn't exist.`
    throw new AwsError('com.amazonaws.sqs#ResourceNotFoundException', message)
  }

  const checkDeadLetters = (dead: Queue): void => {
    if ([...queues()].some(({ model }) => model.redrive?.targetArn === dead.model.arn)) return
    throw invalid('SourceArn', dead.model.arn, 'Source queue must be configured as a Dead Letter Queue.')
  }

  const run = async (task: Task, from: Queue, destination: Queue | undefined) => {
    while (task.status === 'RUNNING') {
      const messages = await from.receive({
        max: Math.min(task.rate ?? AT_ONCE, AT_ONCE),
        visibilitySeconds: HOLD_SECONDS,
      })
      if (messages.length === 0) break
      for (const { body, attributes, groupId, receipt, deadLetterSource } of messages) {
        const to = destination ?? byArn(deadLetterSource ?? '')
        if (!to) {
          // As on AWS, a message that didn't come from another queue ends the move.
          task.status = 'FAILED'
          task.failure = 'CouldNotDetermineMessageSource'
          return
        }
        to.send({ body, attributes, groupId, delaySeconds: 0 })
        from.delete(receipt ?? '')
        task.moved += 1
      }
      if (task.rate !== undefined) await sleep((1_000 * messages.length) / task.rate)
    }
    if (task.status === 'RUNNING') task.status = 'COMPLETED'
  }

  const start = ({ SourceArn, DestinationArn, MaxNumberOfMessagesPerSecond: rate }: MoveInput) => {
    const from = queueAt('SourceArn', SourceArn)
    checkDeadLetters(from)
    const to = DestinationArn === undefined ? undefined : queueAt('DestinationArn', DestinationArn)
    if (rate !== undefined && !(Number.isInteger(rate) && rate >= 1 && rate <= MAX_RATE)) {
      throw invalid('MaxNumberOfMessagesPerSecond', rate, `Must be between 1 and ${MAX_RATE}, if provided.`)
    }
    if (tasks.some(({ source, status }) => source === SourceArn && status === 'RUNNING')) {
      const message =
        'There is already a task running. Only one active task is allowed for a source queue arn at a given time.'
      throw new AwsError('UnsupportedOperation', message)
    }
    const task: Task = {
      handle: Buffer.from(JSON.stringify({ taskId: randomUUID(), sourceArn: SourceArn })).toString('base64'),
      source: from.model.arn,
      destination: DestinationArn,
      rate,
      status: 'RUNNING',
      moved: 0,
      toMove: from.counts().visible,
      startedAt: now(),
    }
    tasks.unshift(task)
    run(task, from, to).catch((error) => {
      task.status = 'FAILED'
      task.failure = 'InternalError'
      onError(error)
    })
    return { TaskHandle: task.handle }
  }

  const listed = (task: Task) => ({
    ...(task.status === 'RUNNING' && { TaskHandle: task.handle }),
    Status: task.status,
    SourceArn: task.source,
    ...(task.destination !== undefined && { DestinationArn: task.destination }),
    ...(task.rate !== undefined && { MaxNumberOfMessagesPerSecond: task.rate }),
    ...(task.failure !== undefined && { FailureReason: task.failure }),
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.toMove,
    StartedTimestamp: task.startedAt,
  })

  const list = ({ SourceArn, MaxResults = 1 }: MoveInput) => {
    queueAt('SourceArn', SourceArn)
    if (!(MaxResults >= 1 && MaxResults <= 10)) throw invalid('MaxResults', MaxResults, 'Must be between 1 and 10.')
    return {
      Results: tasks
        .filter(({ source }) => source === SourceArn)
        .slice(0, MaxResults)
        .map(listed),
    }
  }

  const cancel = ({ TaskHandle }: MoveInput) => {
    const task = tasks.find(({ handle, status }) => handle === TaskHandle && status === 'RUNNING')
    if (!task) throw new AwsError('com.amazonaws.sqs#ResourceNotFoundException', 'Task does not exist.')
    task.status = 'CANCELLED'
    return { ApproximateNumberOfMessagesMoved: task.moved }
  }

  return {
    operations: { StartMessageMoveTask: start, ListMessageMoveTasks: list, CancelMessageMoveTask: cancel },
    stop: () => {
      for (const task of tasks) if (task.status === 'RUNNING') task.status = 'CANCELLED'
    },
  }
}
