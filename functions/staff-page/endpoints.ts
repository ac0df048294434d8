import { builtFolders, openBuiltFiles } from '#shared/http/built-files.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { pageEndpoints } from './pages.ts'

export const endpoints: Endpoint[] = pageEndpoints(openBuiltFiles(builtFolders('admin-assets')))
