import * as z from 'zod'

/** Parts that the schemas of several records share. */

/** A time in an answer (decisions §1 "Times"). */
export const time = () => z.string().meta({ description: 'ISO 8601, UTC', example: '2026-11-21T10:15:30.123+00:00' })

/** A required text without surrounding blanks. */
export const line = (max: number) => z.string().trim().min(1, 'must not be empty').max(max)

/** An e-mail address: 64 characters before the @ and 254 in all at most (RFC 5321 §4.5.3.1). */
export const emailAddress = () =>
  z
    .email('must be an e-mail address')
    .max(254)
    .refine((address) => address.indexOf('@') <= 64, 'must be an e-mail address')

/** A number from 0 up. What is less than a billionth is nothing: a table's numbers end at 1e-130, JSON's do not. */
export const amount = (max: number) =>
  z
    .number()
    .min(0)
    .max(max)
    .transform((given) => (given < 1e-9 ? 0 : given))

/** An id in an answer, shown by an example of its kind. */
export const idField = (prefix: string) => z.string().meta({ example: `${prefix}_01kae5m1v8w6c3x9q2r7t4y0zn` })
