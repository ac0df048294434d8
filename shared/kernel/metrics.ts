/** The namespace of a stage's own metrics in CloudWatch: several stages live in one account. */
export const metricsNamespace = (stage: string): string => `Platform/${stage}`

/** What each sweep writes down, under {@link SWEEP_DIMENSIONS}. */
export const SWEEP_METRICS = { found: 'OverdueFound', failed: 'OverdueFailed', oldest: 'OverdueOldest' } as const

export const SWEEP_DIMENSIONS = { worker: 'overdue-sweep' } as const

/** What each request writes down, under the dimension `Group` of its endpoint. */
export const REQUEST_METRICS = { latency: 'Latency', errors: 'Errors', throttled: 'Throttled' } as const

/** Whom the platform calls: its calls to each are measured as one, whoever it is. */
export const CALLED = ['webhook', 'agent', 'model'] as const
export type Called = (typeof CALLED)[number]

/** What each call writes down, under the dimension {@link CALLED_DIMENSION}: 1 where it got no answer, else 0. */
export const NO_ANSWER = 'NoAnswer'
export const CALLED_DIMENSION = 'Called'
