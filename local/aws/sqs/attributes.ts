import { AwsError } from '../error.ts'
import type { MessageAttribute } from './store.ts'

// SQS developer guide, "Amazon SQS message metadata", and API reference, MessageAttributeValue.
const MAX_ATTRIBUTES = 10
const MAX_NAME = 256
const MAX_TYPE = 256
/** Characters of a number, apart from sign, point and exponent. */
const MAX_DIGITS = 38
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

const invalid = (message: string) => new AwsError('InvalidParameterValue', message)

const nameProblem = (name: string): string | undefined => {
  if (name.length === 0 || name.length > MAX_NAME) return `Its length must be between 1 and ${MAX_NAME}.`
  if (!/^[\w.-]+$/.test(name)) return 'It can contain alphanumeric characters, hyphens, underscores and periods.'
  if (/^\.|\.$|\.\./.test(name)) return 'It can neither start or end with a period, nor have successive periods.'
  return /^(aws|amazon)\./i.test(name) ? 'It can’t start with AWS. or Amazon.' : undefined
}

const isNumber = (text: string): boolean => {
  if (!NUMBER.test(text)) return false
  const value = Math.abs(Number(text))
  const digits = text.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '')
  return digits.length <= MAX_DIGITS && value <= 1e126 && (digits === '' || value >= 1e-128)
}

const valueProblem = ({ DataType, StringValue, BinaryValue }: MessageAttribute): string | undefined => {
  const binary = /^Binary(\.|$)/.test(DataType)
  const [given, other] = binary ? [BinaryValue, StringValue] : [StringValue, BinaryValue]
  const field = binary ? 'Binary' : 'String'
  if (other !== undefined) return `with type '${DataType}' must use field '${field}'.`
  if (!given) return `must contain non-empty message attribute value for message attribute type '${DataType}'.`
  if (!/^Number(\.|$)/.test(DataType) || isNumber(given)) return undefined
  return `with type '${DataType}' must use a number with up to ${MAX_DIGITS} digits, between 1e-128 and 1e126.`
}

/**
 * Checks a message's attributes.
 *
 * @param allowed returns false for a text that a message can't contain
 * @throws AwsError with the first problem
 */
export const checkAttributes = (
  attributes: Record<string, MessageAttribute>,
  allowed: (text: string) => boolean,
): void => {
  const entries = Object.entries(attributes)
  if (entries.length > MAX_ATTRIBUTES) {
    throw invalid(`Number of message attributes [${entries.length}] exceeds the allowed maximum [${MAX_ATTRIBUTES}].`)
  }
  for (const [name, attribute] of entries) {
    const fault = nameProblem(name)
    if (fault) throw invalid(`The message attribute name '${name}' is invalid. ${fault}`)
    const problem = (text: string) => invalid(`The message attribute '${name}' ${text}`)
    const { DataType, StringValue = '' } = attribute
    if (!DataType) throw problem('must contain non-empty message attribute type.')
    if (DataType.length > MAX_TYPE || !/^(String|Number|Binary)(\..+)?$/.test(DataType)) {
      const types = 'The set of supported type prefixes is Binary, Number, and String.'
      throw problem(`has an invalid message attribute type. ${types}`)
    }
    if ('StringListValues' in attribute || 'BinaryListValues' in attribute) {
      throw problem('has a list of values, which SQS doesn’t implement.')
    }
    const reason = valueProblem(attribute)
    if (reason) throw problem(reason)
    if (!allowed(StringValue)) throw problem('contains characters that a message can’t contain.')
  }
}
