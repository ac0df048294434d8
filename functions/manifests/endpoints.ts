import type { Endpoint } from '#shared/http/endpoint.ts'
import { list, publish, validate } from './versions.ts'

/**
 * What reads manifests has a function of its own: the validator weighs 50 KB, and the rest of the developer API would
 * carry it through every cold start.
 */
export const endpoints: Endpoint[] = [publish, list, validate]
