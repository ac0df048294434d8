import type { Endpoint } from '#shared/http/endpoint.ts'
import { derivedSample } from './derived-sample.ts'
import type { Sample } from './sample.ts'
import { samples } from './samples.ts'
import type { Stage } from './stage.ts'

/** Prepares a valid call of the endpoint, with the state that it needs. */
export const sampleCall = async (stage: Stage, endpoint: Endpoint): Promise<Sample> => {
  // Refills every rate limit.
  stage.platform.clock.advance(60_000)
  const sample = await derivedSample(stage, endpoint, (await samples[endpoint.id]?.(stage)) ?? {})
  dropPlannedLooks(stage.platform.messages)
  await stage.platform.drain()
  return sample
}

/**
 * Notifications of earlier calls look at their tasks every minute, and nobody ends these tasks. Without this, the looks would
 * take most of the time of a test that calls every endpoint.
 */
const dropPlannedLooks = (messages: { body: unknown }[]): void => {
  const planned = (body: object): boolean => 'push_run_id' in body && 'at' in body
  const kept = messages.filter(({ body }) => !planned(body as object))
  messages.splice(0, messages.length, ...kept)
}
