import type { Endpoint } from '#shared/http/endpoint.ts'
import { accountEndpoints } from './account.ts'
import { appEndpoints } from './apps.ts'
import { settingsEndpoints } from './settings.ts'

export const endpoints: Endpoint[] = [...accountEndpoints, ...appEndpoints, ...settingsEndpoints]
