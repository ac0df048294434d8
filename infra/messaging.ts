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
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { OutboxEntity } from '#shared/entities/events.ts'
import type { QueueDefinition } from '#shared/events/queues.ts'
import type { QueueName } from '#shared/kernel/queue-names.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { ConfigError } from './config.ts'
import { acknowledge } from './nag.ts'
import { type FunctionPlan, pascal } from './plan.ts'

/** The source that the relay gives its entries; rules take nothing else. */
export const EVENT_SOURCE = 'platform'

/**
 * Where an event names its tenant: the message group of what rules put into the queues, so that one tenant’s backlog waits
 * behind the others (fair queues, to which EventBridge delivers since November 2025).
 */
const EVENT_TENANT = '$.detail.workspace_id'

const NEXT_ROUND = 'A round that was missed is made good by the next one; an alarm tells of more.'
const LATE_IS_USELESS = { retryAttempts: 0, maxEventAge: Duration.minutes(1) }

type Queues = Record<QueueName, QueueDefinition>

/** The bus, a queue with its dead letters for each declaration, and the rules between them. */
export class Messaging extends Construct {
  readonly bus: EventBus
  readonly queues = new Map<QueueName, Queue>()
  /** Every queue of what could not be done: each of them is watched, and none is read by a function. */
  readonly deadLetters: Queue[] = []
  /** Records of the table's stream that the relay gave up. */
  readonly unrelayed: Queue
  readonly rules: Rule[] = []
  readonly #again = new Map<string, Queue>()
  readonly #definitions: Queues
  readonly #undelivered: Queue

  constructor(scope: Construct, id: string, definitions: Queues) {
    super(scope, id)
    this.#definitions = definitions
    this.bus = new EventBus(this, 'Bus')
    this.unrelayed = this.#deadLetterQueue('Unrelayed', 'Stream records that were not relayed')
    this.#undelivered = this.#deadLetterQueue('Undelivered', 'Events that a rule could not put into its queue')
    for (const [name, definition] of Object.entries(definitions) as [QueueName, QueueDefinition][])
      this.#queue(name, definition)
  }

  #queue(name: QueueName, definition: QueueDefinition): void {
    const id = pascal(name)
    const queue = new Queue(this, id, {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.seconds(definition.visibilitySeconds),
      retentionPeriod: Duration.days(4),
      deadLetterQueue: {
        queue: this.#deadLetterQueue(`${id}Failed`, definition.purpose),
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
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    })
    acknowledge(queue, {
      'AwsSolutions-SQS3': `Holds dead letters itself: ${purpose}`,
      'Serverless-SQSRedrivePolicy': `Holds dead letters itself: ${purpose}`,
    })
    this.deadLetters.push(queue)
    return queue
  }

  /** Lets what a worker declares as its source wake it. */
  connect(plan: FunctionPlan, target: IFunction, table: Pick<ITable, 'tableStreamArn'>): void {
    const source = plan.worker?.source
    if (source?.kind === 'stream') this.#fromStream(target, table.tableStreamArn)
    if (source?.kind === 'queue') this.#fromQueue(plan, target, source.queue)
    if (source?.kind === 'schedule') {
      const rule = new Rule(this, `Every${pascal(plan.name)}`, {
        schedule: Schedule.rate(Duration.minutes(source.everyMinutes)),
      })
      // Late is useless: the next round does the same.
      rule.addTarget(new LambdaTarget(target, LATE_IS_USELESS))
      const again = this.againOf(plan)
      if (again !== undefined) {
        rule.addTarget(new SqsQueue(again, LATE_IS_USELESS))
        this.#fromAgain(plan, again, target)
      }
      acknowledge(rule, { 'Serverless-EventBusDLQ': NEXT_ROUND })
      this.rules.push(rule)
    }
  }

  /** Brings the second round after each of a schedule's: it keeps the event back for so long, and what comes too late is gone. */
  againOf({ name, worker, timeoutSeconds }: FunctionPlan): Queue | undefined {
    const seconds = worker?.source.kind === 'schedule' ? worker.source.againAfterSeconds : undefined
    const made = this.#again.get(name)
    if (made || seconds === undefined) return made
    const queue = new Queue(this, `${pascal(name)}Again`, {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      deliveryDelay: Duration.seconds(seconds),
      retentionPeriod: Duration.minutes(1),
      visibilityTimeout: Duration.seconds(timeoutSeconds),
    })
    acknowledge(queue, { 'AwsSolutions-SQS3': NEXT_ROUND, 'Serverless-SQSRedrivePolicy': NEXT_ROUND })
    this.#again.set(name, queue)
    return queue
  }

  #fromAgain({ name }: FunctionPlan, queue: Queue, target: IFunction): void {
    const mapping = new EventSourceMapping(this, `From${pascal(name)}Again`, {
      target,
      eventSourceArn: queue.queueArn,
      // All that waited are one round.
      batchSize: 10,
      maxConcurrency: 2,
    })
    acknowledge(mapping, {
      'Serverless-LambdaEventSourceMappingDestination':
        'A round that failed is made good by the next one; a queue’s mapping has no destination.',
    })
  }

  /**
   * Only new outbox items: Lambda drops the rest of the stream before it costs an invocation. A record that cannot be relayed is
   * split from its batch, tried for an hour, and kept aside; the sweep finds its item in the table meanwhile.
   */
  #fromStream(target: IFunction, stream: string | undefined): void {
    if (stream === undefined) throw new ConfigError('The table has no stream to relay')
    new EventSourceMapping(this, 'FromStream', {
      target,
      eventSourceArn: stream,
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.isEqual('INSERT'),
          dynamodb: { NewImage: { [TABLE_LAYOUT.entity]: { S: FilterRule.isEqual(OutboxEntity.name) } } },
        }),
      ],
      batchSize: 100,
      parallelizationFactor: 4,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: 20,
      maxRecordAge: Duration.hours(1),
      onFailure: new SqsDlq(this.unrelayed),
    })
  }

  #fromQueue(plan: FunctionPlan, target: IFunction, name: QueueName): void {
    const queue = this.queues.get(name)
    const definition = this.#definitions[name]
    if (queue === undefined) throw new ConfigError(`functions/${plan.name}: there is no queue ${name}`)
    const { windowSeconds = 0 } = definition
    // A message is taken when its batch begins to be gathered.
    if (definition.visibilitySeconds < windowSeconds + plan.timeoutSeconds) {
      throw new ConfigError(
        `functions/${plan.name}: runs up to ${plan.timeoutSeconds} s${windowSeconds > 0 ? ` after ${windowSeconds} s of gathering` : ''}, but ${name} hands a message out again after ${definition.visibilitySeconds} s`,
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
        'The queue moves what fails to its dead letters; a queue’s mapping has no destination.',
    })
  }
}
