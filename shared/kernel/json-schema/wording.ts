const list = (values: unknown): string =>
  Array.isArray(values) ? shortened(values.map((value) => JSON.stringify(value)).join(', ')) : ''

const shortened = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text)

/**
 * Describes the keyword that a value failed, as a continuation of the field's name. Doesn't quote the value, which may
 * be a secret.
 *
 * @param limit the keyword's value in the schema
 */
export const describeMismatch = (keyword: string, limit: unknown): string => {
  switch (keyword) {
    case 'false':
      return 'is not expected here'
    case 'type':
      return `must be of type ${Array.isArray(limit) ? limit.join(' or ') : String(limit)}`
    case 'enum':
      return `must be one of ${list(limit)}`
    case 'const':
      return `must be ${shortened(JSON.stringify(limit))}`
    case 'pattern':
      return `does not match the pattern ${shortened(String(limit))}`
    case 'format':
      return `is not a valid ${String(limit)}`
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return `is too short: at least ${String(limit)}`
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return `is too long: at most ${String(limit)}`
    case 'minimum':
      return `must be ${String(limit)} or more`
    case 'maximum':
      return `must be ${String(limit)} or less`
    case 'exclusiveMinimum':
      return `must be above ${String(limit)}`
    case 'exclusiveMaximum':
      return `must be below ${String(limit)}`
    case 'multipleOf':
      return `must be a multiple of ${String(limit)}`
    case 'uniqueItems':
      return 'must not contain the same value twice'
    case 'contains':
      return 'does not contain the expected entries'
    case 'propertyNames':
      return 'has a name that is not expected here'
    case 'anyOf':
      return 'must match one of the allowed forms'
    case 'oneOf':
      return 'must match exactly one of the allowed forms'
    case 'not':
      return 'must not match the forbidden form'
    default:
      return 'does not match the schema'
  }
}
