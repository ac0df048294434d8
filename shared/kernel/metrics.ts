/** Returns the CloudWatch namespace of a stage's own metrics. One account can hold several stages. */
export const metricsNamespace = (stage: string): string => `Platform/${stage}`

/** Metrics of each sweep, under {@link SWEEP_DIMENSIONS}. */
export const SWEEP_METRICS = { found: 'OverdueFound', failed: 'OverdueFailed', oldest: 'OverdueOldest' } as const

export const SWEEP_DIMENSIONS = { worker: 'sweeper' } as const

/** Metric of responses with a 429, under the dimension `Group` of the endpoint. Written for those only. */
export const THROTTLED = 'Throttled'

/** Metric of a version's responses with a 5xx, under the dimensions `Function` and `Version`. Written for those only. */
export const VERSION_ERRORS = 'VersionErrors'

/** Kinds of servers that the platform calls. Calls to all servers of a kind are measured together. */
export const CALLEE_KINDS = ['webhook', 'agent', 'model'] as const
export type CalleeKind = (typeof CALLEE_KINDS)[number]

/** Metric of each call, under the dimension {@link CALLEE_DIMENSION}: 1 without a response, otherwise 0. */
export const NO_ANSWER = 'NoAnswer'
export const CALLEE_DIMENSION = 'Called'

/** Metrics of the journey that is run on a schedule (infra/journey), without dimensions: 1 for a journey that succeeded, otherwise 0. */
export const JOURNEY_METRICS = { done: 'JourneyDone' } as const
