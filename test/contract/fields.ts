import * as z from 'zod'
import type { Endpoint } from '#shared/http/endpoint.ts'

/** The parts of a JSON Schema that declare fields. */
interface Shape {
  $ref?: string
  properties?: Record<string, unknown>
  anyOf?: Shape[]
  oneOf?: Shape[]
  allOf?: Shape[]
  $defs?: Record<string, Shape>
}

/** Lists the names of all fields that an endpoint's body may have, in any of its forms. */
export const fieldsOf = (endpoint: Endpoint): string[] => {
  const body = endpoint.body?.()
  if (!body) return []
  const whole = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Shape
  const fields = ({ $ref, properties = {}, anyOf = [], oneOf = [], allOf = [] }: Shape): string[] => {
    const referred = whole.$defs?.[$ref?.split('/').at(-1) ?? '']
    return [
      ...Object.keys(properties),
      ...[...anyOf, ...oneOf, ...allOf, ...(referred ? [referred] : [])].flatMap(fields),
    ]
  }
  return [...new Set(fields(whole))]
}
