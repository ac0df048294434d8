type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Objects of a request whose fields the protocol names. All others are the caller's. */
const NAMED: readonly string[] = ['message', 'configuration', 'taskPushNotificationConfig', 'authentication']

const jsonName = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Renames fields to their names in JSON. Clients on protocol buffers may send the names of the schema, such as `task_id`, and
 * servers have to take both (ProtoJSON).
 */
export const withJsonNames = (params: Json): Json =>
  Object.fromEntries(
    Object.entries(params).map(([given, value]) => {
      const name = jsonName(given)
      if (NAMED.includes(name) && isObject(value)) return [name, withJsonNames(value)]
      if (name === 'parts' && Array.isArray(value)) return [name, value.map(partWithJsonNames)]
      return [name, value]
    }),
  )

const partWithJsonNames = (part: unknown): unknown =>
  isObject(part) ? Object.fromEntries(Object.entries(part).map(([name, value]) => [jsonName(name), value])) : part
