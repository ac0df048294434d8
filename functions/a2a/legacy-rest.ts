import { restEndpoints } from './support/rest.ts'

export const endpoints = restEndpoints('0.3')
