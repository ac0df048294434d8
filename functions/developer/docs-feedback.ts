import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { lazily } from '#shared/kernel/lazily.ts'

/** Feedback is read in the logs, where nothing leads from it to a person (docs/deploy.md#feedback-on-the-documentation). */
const FeedbackSchema = lazily(() =>
  z.strictObject({
    page: z
      .string()
      .regex(/^[a-z0-9-]{1,60}$/)
      .meta({ description: 'Name of the page below `/docs`.', example: 'quickstart' }),
    helpful: z.boolean().meta({ description: 'Whether the page helped.' }),
    comment: z
      .string()
      .max(500)
      .optional()
      .meta({ description: 'What was missing or wrong. Don’t send personal data.' }),
  }),
)

const send = defineEndpoint({
  id: 'developer.docs.feedback',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/docs/feedback',
  caller: 'none',
  anonymous: 'read',
  summary: 'Say whether a page of the documentation helped',
  description: 'The operator reads the answers in the logs. They aren’t stored with you or your account.',
  body: FeedbackSchema,
  status: 204,
  handler: async ({ work, body }) => {
    work.log.info('feedback on the documentation', { ...body })
    return undefined
  },
})

export const endpoints = [send]
