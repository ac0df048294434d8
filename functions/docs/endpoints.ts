import type { Endpoint } from '#shared/http/endpoint.ts'
import { builtFolders, openBuiltFiles } from './files.ts'
import { pageEndpoints } from './pages.ts'

export const endpoints: Endpoint[] = pageEndpoints(openBuiltFiles(builtFolders()))
