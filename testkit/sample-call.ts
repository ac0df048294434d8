import type { Endpoint } from '#shared/http/endpoint.ts'
import { derivedSample } from './derived-sample.ts'
import type { Sample } from './sample.ts'
import { samples } from './samples.ts'
import type { Stage } from './stage.ts'

/** Prepares a valid call of the endpoint, with the state that it needs. */
export const sampleCall = async (stage: Stage, endpoint: Endpoint): Promise<Sample> => {
  // Refills every rate limit.
  stage.platform.clock.advance(60_000)
  const sample = await (samples[endpoint.id]?.(stage) ?? derivedSample(stage, endpoint))
  await stage.platform.drain()
  return sample
}
