import { restEndpoints } from './support/rest.ts'

export const endpoints = restEndpoints('1.0')
