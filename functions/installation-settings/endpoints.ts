import type { Endpoint } from '#shared/http/endpoint.ts'
import { settingsEndpoints } from './settings.ts'
import { upgrade } from './upgrade.ts'

export const endpoints: Endpoint[] = [...settingsEndpoints, upgrade]
