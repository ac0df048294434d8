import type { Endpoint } from '#shared/http/endpoint.ts'
import { builtFolders, openBuiltFiles } from './files.ts'
import { pageEndpoints } from './pages.ts'
import { wellKnownEndpoints } from './well-known.ts'

export const endpoints: Endpoint[] = [...pageEndpoints(openBuiltFiles(builtFolders())), ...wellKnownEndpoints]
