import { Duration } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { EventBus, Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction as LambdaTarget, SqsQueue } from 'aws-cdk-lib/aws-events-targets'
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type IFunction,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda'
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources'
import { Queue, type QueueProps } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { QueueDefinition } from '#shared/foundation/queues/index.ts'
import type { Worker } from '#shared/http/worker.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { type Config, ConfigError } from './config.ts'
import { queueEncryption } from './encryption.ts'
import { acknowledge } from './nag.ts'
import { type FunctionPlan, pascal } from './plan.ts'

/** Source of the relay's entries. Rules match no other source. */
export const EVENT_SOURCE = 'platform'

/**
 * Path of an event's tenant. Rules use it as the message group, so that one tenant’s backlog waits behind the others (fair queues,
 * which EventBridge supports since November 2025).
 */
const EVENT_TENANT = '$.detail.workspace_id'

const NEXT_ROUND = 'The next round makes up for a missed one. An alarm reports repeated misses.'
const LATE_IS_USELESS = { retryAttempts: 0, maxEventAge: Duration.minutes(1) }

type Queues = Record<QueueName, QueueDefinition>

/** The bus, a queue and a dead-letter queue for each declaration, and the rules between them. */
export class Messaging extends Construct {
  readonly bus: EventBus
  readonly queues = new Map<QueueName, Queue>()
  /** All dead-letter queues. Each has an alarm, and no function reads them. */
  readonly deadLetters: Queue[] = []
  /** Dead-letter queue of every worker's queue. SQS keeps each message's source, and moves it back there. */
  readonly #failed: Queue
  /** Dead-letter queue for records of the table's stream that the relay gave up. */
  readonly unrelayed: Queue
  readonly rules: Rule[] = []
  /** Rules of the schedules, by worker. */
  readonly schedules = new Map<string, Rule>()
  readonly #again = new Map<string, Queue>()
  readonly #definitions: Queues
  readonly #undelivered: Queue
  readonly #absenceFilters: boolean
  readonly #encryption: QueueProps

  constructor(scope: Construct, id: string, definitions: Queues, config: Pick<Config, 'absenceFilters' | 'kmsKeyArn'>) {
    super(scope, id)
    this.#definitions = definitions
    this.#absenceFilters = config.absenceFilters
    this.#encryption = queueEncryption(this, config)
    this.bus = new EventBus(this, 'Bus')
    this.#failed = this.#deadLetterQueue('Failed', 'Messages on which a worker failed too often')
    this.unrelayed = this.#deadLetterQueue('Unrelayed', 'Stream records that the relay gave up')
    this.#undelivered = this.#deadLetterQueue('Undelivered', 'Events that a rule couldn’t put into its queue')
    for (const [name, definition] of Object.entries(definitions) as [QueueName, QueueDefinition][])
      this.#queue(name, definition)
  }

  #queue(name: QueueName, definition: QueueDefinition): void {
    const id = pascal(name)
    const queue = new Queue(this, id, {
      ...this.#encryption,
      enforceSSL: true,
      visibilityTimeout: Duration.seconds(definition.visibilitySeconds),
      retentionPeriod: Duration.days(4),
      deadLetterQueue: {
        queue: this.#failed,
        maxReceiveCount: definition.maxReceives,
      },
    })
    this.queues.set(name, queue)
    if (definition.fromBus === undefined) return
    const types = definition.fromBus.includes('*') ? {} : { detailType: [...definition.fromBus] }
    const rule = new Rule(this, `To${id}`, { eventBus: this.bus, eventPattern: { source: [EVENT_SOURCE], ...types } })
    rule.addTarget(
      new SqsQueue(queue, {
        messageGroupId: EVENT_TENANT,
        deadLetterQueue: this.#undelivered,
        maxEventAge: Duration.hours(24),
        retryAttempts: 185,
      }),
    )
    this.rules.push(rule)
  }

  #deadLetterQueue(id: string, purpose: string): Queue {
    const queue = new Queue(this, id, {
      ...this.#encryption,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    })
    acknowledge(queue, {
      'AwsSolutions-SQS3': `Is a dead-letter queue itself: ${purpose}`,
      'Serverless-SQSRedrivePolicy': `Is a dead-letter queue itself: ${purpose}`,
    })
    this.deadLetters.push(queue)
    return queue
  }

  /** Connects a function to the sources that its workers declare, each with its own settings. */
  connect(plan: FunctionPlan, target: IFunction, table: Pick<ITable, 'tableStreamArn'>): void {
    for (const worker of plan.workers) {
      const { source } = worker
      if (source.kind === 'stream') this.#fromStream(worker.name, source, target, table.tableStreamArn)
      if (source.kind === 'queue') this.#fromQueue(plan, target, source.queue)
      if (source.kind === 'schedule') this.#fromSchedule(worker, source.everyMinutes, target)
    }
  }

  #fromSchedule(worker: Worker, everyMinutes: number, target: IFunction): void {
    const rule = new Rule(this, `Every${pascal(worker.name)}`, {
      schedule: Schedule.rate(Duration.minutes(everyMinutes)),
    })
    // A late event is useless, because the next round does the same.
    rule.addTarget(new LambdaTarget(target, LATE_IS_USELESS))
    const again = this.againOf(worker)
    if (again !== undefined) {
      rule.addTarget(new SqsQueue(again, LATE_IS_USELESS))
      this.#fromAgain(worker, again, target)
    }
    acknowledge(rule, { 'Serverless-EventBusDLQ': NEXT_ROUND })
    this.rules.push(rule)
    this.schedules.set(worker.name, rule)
  }

  /** Adds the queue for a schedule's second rounds. It delays each event, and drops it when it is too late. */
  againOf({ name, source, timeoutSeconds }: Worker): Queue | undefined {
    const seconds = source.kind === 'schedule' ? source.againAfterSeconds : undefined
    const made = this.#again.get(name)
    if (made || seconds === undefined) return made
    const queue = new Queue(this, `${pascal(name)}Again`, {
      ...this.#encryption,
      enforceSSL: true,
      deliveryDelay: Duration.seconds(seconds),
      retentionPeriod: Duration.minutes(1),
      visibilityTimeout: Duration.seconds(timeoutSeconds),
    })
    acknowledge(queue, { 'AwsSolutions-SQS3': NEXT_ROUND, 'Serverless-SQSRedrivePolicy': NEXT_ROUND })
    this.#again.set(name, queue)
    return queue
  }

  #fromAgain({ name }: Worker, queue: Queue, target: IFunction): void {
    const mapping = new EventSourceMapping(this, `From${pascal(name)}Again`, {
      target,
      eventSourceArn: queue.queueArn,
      // All waiting messages make one round.
      batchSize: 10,
      maxConcurrency: 2,
    })
    acknowledge(mapping, {
      'Serverless-LambdaEventSourceMappingDestination':
        'The next round makes up for a failed one. The mapping of a queue has no destination.',
    })
  }

  /**
   * Subscribes to new items of one entity only: Lambda drops the rest of the stream before it costs an invocation. A record that
   * can't be handled is split from its batch, retried for an hour, and set aside. Another worker finds its item in the table.
   */
  #fromStream(
    name: string,
    { entity, without, inOrder, setsAside }: Extract<Worker['source'], { kind: 'stream' }>,
    target: IFunction,
    stream: string | undefined,
  ): void {
    if (stream === undefined) throw new ConfigError(`The table has no stream for ${name}`)
    // The relay’s mapping keeps its first name: another one would be a new mapping, which reads the day’s events again.
    const id = name === 'relay' ? 'FromStream' : `FromStreamTo${pascal(name)}`
    const mapping = new EventSourceMapping(this, id, {
      target,
      eventSourceArn: stream,
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.isEqual('INSERT'),
          dynamodb: {
            NewImage: {
              [TABLE_LAYOUT.entity]: { S: FilterRule.isEqual(entity) },
              // A flag that is absent or true.
              ...(without !== undefined && this.#absenceFilters && { [without]: { BOOL: FilterRule.notExists() } }),
            },
          },
        }),
      ],
      batchSize: 100,
      parallelizationFactor: inOrder ? 1 : 4,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: 20,
      maxRecordAge: Duration.hours(1),
      ...(setsAside && { onFailure: new SqsDlq(this.unrelayed) }),
    })
    if (!setsAside) {
      acknowledge(mapping, {
        'Serverless-LambdaEventSourceMappingDestination': 'Another worker finds what is left in the table.',
      })
    }
  }

  #fromQueue(plan: FunctionPlan, target: IFunction, name: QueueName): void {
    const queue = this.queues.get(name)
    const definition = this.#definitions[name]
    if (queue === undefined) throw new ConfigError(`${plan.name}: there is no queue ${name}`)
    const { windowSeconds = 0 } = definition
    // A message becomes invisible when its batch begins to gather.
    if (definition.visibilitySeconds < windowSeconds + plan.timeoutSeconds) {
      throw new ConfigError(
        `${plan.name}: runs up to ${plan.timeoutSeconds} s${windowSeconds > 0 ? ` after ${windowSeconds} s of gathering` : ''}, but ${name} redelivers a message after ${definition.visibilitySeconds} s`,
      )
    }
    const mapping = new EventSourceMapping(this, `From${pascal(name)}`, {
      target,
      eventSourceArn: queue.queueArn,
      batchSize: definition.batchSize,
      ...(windowSeconds > 0 && { maxBatchingWindow: Duration.seconds(windowSeconds) }),
      maxConcurrency: definition.maxConcurrency,
      reportBatchItemFailures: true,
    })
    acknowledge(mapping, {
      'Serverless-LambdaEventSourceMappingDestination':
        'The queue moves failed messages to its dead-letter queue. The mapping of a queue has no destination.',
    })
  }
}
