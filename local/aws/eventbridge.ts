import { randomUUID } from 'node:crypto'
import type { RuleModel, RuleTarget } from '../template/model.ts'
import { ACCOUNT, REGION } from '../template/physical.ts'
import { AwsError } from './error.ts'
import { compilePattern } from './pattern.ts'
import type { MessageAttribute } from './sqs/store.ts'
import type { Sqs } from './sqs.ts'

/** An event as rules and targets see it. */
export interface BusEvent {
  version: '0'
  id: string
  'detail-type': string
  source: string
  account: string
  time: string
  region: string
  resources: string[]
  detail: Record<string, unknown>
}

interface Entry {
  Source?: string
  DetailType?: string
  Detail?: string
  EventBusName?: string
  Resources?: string[]
  /** Epoch seconds. */
  Time?: number
}

type EntryResult = { EventId: string } | { ErrorCode: string; ErrorMessage: string }

/** Maximum total size of the entries of one call (EventBridge user guide, "Calculating PutEvents event entry size"). */
const MAX_TOTAL_BYTES = 262_144
const MAX_ENTRIES = 10
const TIME_BYTES = 14

const bytesOf = (entry: Entry): number =>
  (entry.Time === undefined ? 0 : TIME_BYTES) +
  [entry.Source, entry.DetailType, entry.Detail, ...(entry.Resources ?? [])].reduce(
    (sum, text) => sum + Buffer.byteLength(text ?? ''),
    0,
  )

const parseDetail = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Returns the value at a path such as `$.detail.id`. Supports the subset without filters and wildcards. */
const atPath = (event: unknown, path: string): unknown =>
  path
    .replace(/^\$\.?/, '')
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .reduce<unknown>(
      (value, part) => (value as Record<string, unknown> | undefined)?.[part.replace(/^['"]|['"]$/g, '')],
      event,
    )

const transform = (event: BusEvent, { paths, template }: NonNullable<RuleTarget['transformer']>) =>
  template.replace(/<([^>]+)>/g, (_, name: string) => {
    if (name === 'aws.events.event' || name === 'aws.events.event.json') return JSON.stringify(event)
    const value = atPath(event, paths[name] ?? '')
    return typeof value === 'string' ? value : JSON.stringify(value ?? null)
  })

/** Returns the input that the target gets. */
const inputOf = (event: BusEvent, target: RuleTarget): string => {
  if (target.input !== undefined) return target.input
  if (target.transformer) return transform(event, target.transformer)
  return JSON.stringify(target.inputPath ? atPath(event, target.inputPath) : event)
}

/** Returns the attributes that EventBridge adds to a dead-lettered event. */
const reasonOf = ({ name, bus }: RuleModel, { arn }: RuleTarget): Record<string, MessageAttribute> =>
  Object.fromEntries(
    Object.entries({
      RULE_ARN: `arn:aws:events:${REGION}:${ACCOUNT}:rule/${bus}/${name}`,
      TARGET_ARN: arn,
      ERROR_CODE: 'NO_RESOURCE',
      ERROR_MESSAGE: 'The specified queue does not exist.',
    }).map(([key, StringValue]) => [key, { DataType: 'String', StringValue }]),
  )

/** Returns a target's message group: a constant, or the event's value at a path. */
const groupOf = (event: BusEvent, { messageGroupId }: RuleTarget): string | undefined => {
  if (!messageGroupId?.startsWith('$.')) return messageGroupId
  const value = atPath(event, messageGroupId)
  return typeof value === 'string' ? value : undefined
}

/** Publishes events on a bus and delivers them to the queues of the matching rules. */
export interface EventBridge {
  handle(operation: string, input: Record<string, unknown>): object
}

/**
 * Creates PutEvents with the rules of the template. Delivery is complete before the call returns, so no event can be
 * lost in between.
 *
 * @param options.onDropped called for events whose target does not exist and has no dead-letter queue
 */
export const createEventBridge = (options: {
  buses: string[]
  rules: RuleModel[]
  sqs: Sqs
  onDropped?: (rule: string, event: BusEvent) => void
  /**
   * Called for a rule whose target could not be reached. AWS retries for a day; here the event is dead-lettered at
   * once.
   */
  onUnreachable?: (rule: RuleModel) => void
  /** ARNs of targets to treat as unreachable. */
  unreachable?: ReadonlySet<string>
}): EventBridge => {
  const rules = options.rules.map((rule) => ({
    rule,
    matches: compilePattern(rule.pattern, `The pattern of rule ${rule.name}`),
  }))

  const deliver = (event: BusEvent, bus: string) => {
    for (const { rule, matches } of rules) {
      if (rule.bus !== bus || !matches(event)) continue
      for (const target of rule.targets) {
        const reached = options.unreachable?.has(target.arn) ? undefined : options.sqs.byArn(target.arn)
        const dead = reached ? undefined : options.sqs.byArn(target.deadLetterArn ?? '')
        const message = { body: inputOf(event, target), groupId: groupOf(event, target) }
        if (!reached) options.onUnreachable?.(rule)
        if (reached) reached.send(message)
        else if (dead) dead.send({ ...message, attributes: reasonOf(rule, target) })
        else options.onDropped?.(rule.name, event)
      }
    }
  }

  const put = (entry: Entry): EntryResult => {
    const refuse = (field: string): EntryResult => ({
      ErrorCode: 'InvalidArgument',
      ErrorMessage: `Parameter ${field} is not valid. Reason: ${field} is a required argument.`,
    })
    if (!entry.Source) return refuse('Source')
    if (!entry.DetailType) return refuse('DetailType')
    if (!entry.Detail) return refuse('Detail')
    const detail = parseDetail(entry.Detail)
    if (!detail) return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' }
    const id = randomUUID()
    const bus = entry.EventBusName?.split('/').at(-1) ?? 'default'
    // AWS accepts an entry for a bus that does not exist, and drops it.
    if (!options.buses.includes(bus)) return { EventId: id }
    const time = entry.Time === undefined ? new Date() : new Date(entry.Time * 1_000)
    const event: BusEvent = {
      version: '0',
      id,
      'detail-type': entry.DetailType,
      source: entry.Source,
      account: ACCOUNT,
      time: `${time.toISOString().slice(0, 19)}Z`,
      region: REGION,
      resources: entry.Resources ?? [],
      detail,
    }
    deliver(event, bus)
    return { EventId: id }
  }

  return {
    handle: (operation, input) => {
      if (operation !== 'PutEvents')
        throw new AwsError('UnknownOperationException', `The local bus does not support ${operation}.`)
      const entries = (input.Entries ?? []) as Entry[]
      if (entries.length === 0 || entries.length > MAX_ENTRIES) {
        const constraint = 'Member must have length less than or equal to 10 and greater than or equal to 1'
        const message = `1 validation error detected: Value at 'entries' failed to satisfy constraint: ${constraint}`
        throw new AwsError('ValidationException', message)
      }
      if (entries.reduce((sum, entry) => sum + bytesOf(entry), 0) > MAX_TOTAL_BYTES) {
        throw new AwsError('ValidationException', 'Total size of the entries in the request is over the limit.')
      }
      const results = entries.map(put)
      return { FailedEntryCount: results.filter((result) => 'ErrorCode' in result).length, Entries: results }
    },
  }
}
