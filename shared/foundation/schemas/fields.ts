import * as z from 'zod'
import { findHiddenCharacter, isVisible } from '#shared/kernel/names.ts'

/** Time in a response (contract/general.md#times). */
export const time = () => z.string().meta({ description: 'ISO 8601, UTC', example: '2026-11-21T10:15:30.123+00:00' })

/** Required string, trimmed. */
export const line = (max: number) => z.string().trim().min(1, 'must not be empty').max(max)

/**
 * Name that a person or developer chooses: one visible line, trimmed, in NFC
 * (contract/general.md#names). Names appear in the platform's own sentences.
 */
export const name = (max: number) => oneLine(z.string().normalize('NFC').trim().min(1, 'must not be empty').max(max))

/** Refuses a text with characters that no name may contain. */
export const oneLine = <T extends z.ZodType<string>>(schema: T): T =>
  schema
    .refine((text) => findHiddenCharacter(text) === undefined, {
      error: ({ input }) =>
        `must not contain ${findHiddenCharacter(String(input))}: a name has no line breaks, control, direction or invisible characters`,
      abort: true,
    })
    .refine(isVisible, 'must contain a visible character')

/** E-mail address of at most 254 characters, with at most 64 before the @ (RFC 5321 §4.5.3.1). */
export const emailAddress = () =>
  z
    .email('must be an e-mail address')
    .max(254)
    .refine((address) => address.indexOf('@') <= 64, 'must be an e-mail address')

/** Number of 0 or more. Values under a billionth become 0, because DynamoDB's numbers end at 1e-130 and JSON's don't. */
export const amount = (max: number) =>
  z
    .number()
    .min(0)
    .max(max)
    .transform((given) => (given < 1e-9 ? 0 : given))

/** Id in a response, with an example of its kind. */
export const idField = (prefix: string) => z.string().meta({ example: `${prefix}_01kae5m1v8w6c3x9q2r7t4y0zn` })

/** Days until a named key expires. */
export const keyDays = () =>
  z.number().int().min(1).max(365).default(90).meta({ description: 'Days until the key expires.', example: 90 })
