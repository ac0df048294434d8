import type { Endpoint } from '#shared/http/endpoint.ts'
import { builtFolders, openBuiltFiles } from './files.ts'
import { pageEndpoints } from './pages.ts'
import { sdkEndpoints } from './sdk-examples.ts'
import { wellKnownEndpoints } from './well-known.ts'

const files = openBuiltFiles(builtFolders())

export const endpoints: Endpoint[] = [...pageEndpoints(files), ...sdkEndpoints(files), ...wellKnownEndpoints]
