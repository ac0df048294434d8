/**
 * Named retry schedules for webhook deliveries, in seconds after the n-th failed attempt. The default schedule is the
 * contract's, whose last two delays are seconds (contract/events-and-webhooks.md#retries). `day` suits production: a
 * receiver that is down for hours still gets its events.
 */
export const RETRY_PRESETS = {
  day: [10, 60, 300, 1_800, 7_200, 21_600],
} as const satisfies Record<string, readonly number[]>

export type RetryPreset = keyof typeof RETRY_PRESETS

export const RETRY_PRESET_NAMES = Object.keys(RETRY_PRESETS) as [RetryPreset, ...RetryPreset[]]
