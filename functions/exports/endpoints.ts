import type { Endpoint } from '#shared/http/endpoint.ts'
import { exportDataset } from './export.ts'

export const endpoints: Endpoint[] = [exportDataset]
