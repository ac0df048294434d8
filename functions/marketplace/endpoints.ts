import type { Endpoint } from '#shared/http/endpoint.ts'
import { installationEndpoints } from './installations.ts'
import { marketplaceEndpoints } from './marketplace.ts'

export const endpoints: Endpoint[] = [...marketplaceEndpoints, ...installationEndpoints]
