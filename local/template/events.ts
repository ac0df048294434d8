import { compilePattern } from '../aws/pattern.ts'
import type { Resolved } from './api.ts'
import { list, number, object, type Props, required, text } from './fields.ts'
import type { QueueSourceModel, RuleModel, RuleTarget, ScheduleModel, StreamSourceModel } from './model.ts'
import { withoutQualifier } from './physical.ts'

const UNIT_MS: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/**
 * Parses `rate(5 minutes)` to milliseconds.
 *
 * @throws Error for cron expressions, which the stacks don't use
 */
const everyMs = (expression: string): number => {
  const match = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression)
  if (!match) throw new Error(`The local run supports only rate(…) schedules, not ${expression}`)
  return Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? 60_000)
}

const targetOf = (target: Props): RuleTarget => {
  const transformer = object(target.InputTransformer)
  const input = text(target.Input)
  const inputPath = text(target.InputPath)
  const messageGroupId = text(object(target.SqsParameters).MessageGroupId)
  const deadLetterArn = text(object(target.DeadLetterConfig).Arn)
  return {
    arn: required(text(target.Arn), 'the target of a rule'),
    ...(input !== undefined && { input }),
    ...(inputPath !== undefined && { inputPath }),
    ...(messageGroupId !== undefined && { messageGroupId }),
    ...(deadLetterArn !== undefined && { deadLetterArn }),
    ...(transformer.InputTemplate !== undefined && {
      transformer: {
        paths: object(transformer.InputPathsMap) as Record<string, string>,
        template: String(transformer.InputTemplate),
      },
    }),
  }
}

/** Maximum length of a rule's pattern (EventBridge quotas) and of a mapping's filter (Lambda API, `Filter`). */
const MAX_LENGTH = { rule: 2_048, filter: 4_096 }
/** Maximum number of filters of a mapping (Lambda quotas). */
const MAX_FILTERS = 5

/**
 * Checks a pattern while the template is read, because AWS refuses a wrong one at deployment.
 *
 * @throws Error that names the pattern
 */
const checked = (pattern: unknown, where: string, max: number): unknown => {
  compilePattern(pattern, where)
  const { length } = JSON.stringify(pattern)
  if (length > max) throw new Error(`${where} has ${length} characters, and AWS accepts ${max}.`)
  return pattern
}

/** Reads a mapping's filters. */
const filtersOf = (properties: Props, name: string): unknown[] => {
  const where = `A filter of ${name}`
  const filters = list(object(properties.FilterCriteria).Filters)
  if (filters.length > MAX_FILTERS)
    throw new Error(`${name} has ${filters.length} filters, and AWS accepts ${MAX_FILTERS}.`)
  return filters.map((filter) => {
    const given = String(object(filter).Pattern)
    let pattern: unknown
    try {
      pattern = JSON.parse(given)
    } catch {
      throw new Error(`${where} is not valid: it isn't JSON. It is ${given}.`)
    }
    return checked(pattern, where, MAX_LENGTH.filter)
  })
}

/** Reads the rules with a pattern. Disabled rules are ignored. */
export const readRules = (resources: Resolved[]): RuleModel[] =>
  resources
    .filter(({ type, properties: p }) => type === 'AWS::Events::Rule' && p.EventPattern && p.State !== 'DISABLED')
    .map(({ name, properties }) => ({
      name,
      bus: (text(properties.EventBusName) ?? 'default').split('/').at(-1) ?? 'default',
      pattern: checked(properties.EventPattern, `The pattern of rule ${name}`, MAX_LENGTH.rule),
      targets: list(properties.Targets).map((target) => targetOf(object(target))),
    }))

/** Reads the schedules of rules and of EventBridge Scheduler, one per target. */
export const readSchedules = (resources: Resolved[]): ScheduleModel[] =>
  resources.flatMap(({ type, name, properties }): ScheduleModel[] => {
    const expression = text(properties.ScheduleExpression)
    if (!expression || properties.State === 'DISABLED') return []
    const targets =
      type === 'AWS::Events::Rule'
        ? list(properties.Targets).map(object)
        : type === 'AWS::Scheduler::Schedule'
          ? [object(properties.Target)]
          : []
    return targets.map((target) => ({
      name,
      everyMs: everyMs(expression),
      targetArn: withoutQualifier(required(text(target.Arn), `the target of schedule ${name}`)),
      input: text(target.Input),
    }))
  })

/** Returns the ARN of a mapping's function, which the mapping names by name, ARN or partial ARN, with an alias. */
const functionArnOf = (given: unknown, resources: Resolved[], arnOfName: (name: string) => string) => {
  const [name] = (String(given).split(':function:').at(-1) ?? '').split(':')
  const found = resources.find((resource) => resource.type === 'AWS::Lambda::Function' && resource.name === name)
  return arnOfName(required(found, `the function ${name} of an event source`).name)
}

/** Reads the event source mappings of streams and queues. */
export const readSources = (
  resources: Resolved[],
  arnOfName: (name: string) => string,
): { streams: StreamSourceModel[]; queues: QueueSourceModel[] } => {
  const streams: StreamSourceModel[] = []
  const queues: QueueSourceModel[] = []
  for (const { type, name, properties: p } of resources) {
    if (type !== 'AWS::Lambda::EventSourceMapping' || p.Enabled === false) continue
    const sourceArn = required(text(p.EventSourceArn), `the source of ${name}`)
    const shared = {
      id: name,
      functionArn: functionArnOf(p.FunctionName, resources, arnOfName),
      windowMs: (number(p.MaximumBatchingWindowInSeconds) ?? 0) * 1_000,
      reportItemFailures: list(p.FunctionResponseTypes).includes('ReportBatchItemFailures'),
    }
    const filters = filtersOf(p, name)
    if (sourceArn.includes(':sqs:')) {
      if (filters.length > 0) throw new Error(`${name} filters a queue, which the local run doesn't support.`)
      queues.push({
        ...shared,
        kind: 'queue',
        queueArn: sourceArn,
        batchSize: number(p.BatchSize) ?? 10,
        // Lambda starts five pollers and scales from there. Ten at once keep a laptop responsive.
        maxConcurrency: number(object(p.ScalingConfig).MaximumConcurrency) ?? 10,
      })
    } else {
      streams.push({
        ...shared,
        kind: 'stream',
        filters,
        streamArn: sourceArn,
        batchSize: number(p.BatchSize) ?? 100,
        bisect: p.BisectBatchOnFunctionError === true,
        maxRetries: number(p.MaximumRetryAttempts) ?? -1,
        maxAgeSeconds: number(p.MaximumRecordAgeInSeconds) ?? -1,
        onFailureArn: text(object(object(p.DestinationConfig).OnFailure).Destination),
        fromStart: p.StartingPosition === 'TRIM_HORIZON',
      })
    }
  }
  return { streams, queues }
}
