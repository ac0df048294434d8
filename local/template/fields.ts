/** Untyped properties of a template. The few checks on them make errors in a template understandable. */
export type Props = Record<string, unknown>

export const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Reads a number. CloudFormation accepts numbers as numbers or as text. */
export const number = (value: unknown): number | undefined =>
  value === undefined || value === null || value === '' || Number.isNaN(Number(value)) ? undefined : Number(value)

export const object = (value: unknown): Props =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Props) : {}

export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export const texts = (value: unknown): string[] => list(value).map(String)

/**
 * Returns the value if it is present.
 * @throws Error naming the resource and the property
 */
export const required = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new Error(`The template lacks ${what}`)
  return value
}
