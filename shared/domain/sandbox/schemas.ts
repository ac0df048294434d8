import * as z from 'zod'
import { idField } from '../fields.ts'
import { appId } from '../listening/schemas.ts'
import { TokenResponseSchema } from '../oauth/token-pair.ts'
import { RunSchema } from '../runs/schemas.ts'

/** `POST /api/v1/dev/apps/{id}/test-run`. */
export const TestRun = () =>
  z
    .strictObject({
      input: z
        .record(z.string(), z.unknown())
        .default({})
        .meta({
          description: 'What the agent gets as `run.input`.',
          example: { question: 'How many are in stock?' },
        }),
    })
    .meta({ id: 'TestRun' })

/** What a test run answers, whether the agent succeeded or not (specification "test-run"). */
export const TestRunResult = () =>
  z
    .object({
      installation_id: idField('ins'),
      workspace_id: idField('ws'),
      agent: z.object({
        version: z.string().meta({ example: '1.0.0' }),
        runtime_type: z.enum(['webhook', 'inline']),
        endpoint: z.string().nullable(),
      }),
      run: RunSchema(),
    })
    .meta({ id: 'TestRunResult' })

/** The token response of the sandbox installation (specification "Token response"). */
export const SandboxToken = () =>
  TokenResponseSchema()
    .extend({ agent_version: z.string().meta({ description: 'The version attached.', example: '1.0.0' }) })
    .meta({ id: 'SandboxToken' })

const count = () => z.number().int()

/** `POST /api/v1/dev/sandbox/seed`: how many of each there are now. */
export const SeededSchema = () =>
  z
    .object({
      workspace_id: idField('ws'),
      tasks: count(),
      runs: count(),
      files: count(),
      folders: count(),
      notifications: count(),
      conversations: count().meta({ description: 'Those of the tasks included.' }),
      messages: count(),
      installations: count().meta({ description: '1 when an agent of the marketplace had to be installed.' }),
    })
    .meta({ id: 'Seeded' })

/** `POST /api/v1/dev/sandbox/trigger`. */
export const TriggerSchema = () =>
  z
    .strictObject({
      app_id: appId(),
      type: z.string().min(1).max(120).meta({
        description: 'An event type of the catalogue; `custom.<name>` for one of your own.',
        example: 'run.succeeded',
      }),
      data: z
        .record(z.string(), z.unknown())
        .default({})
        .meta({
          description: 'Fields that take the place of the sample’s.',
          example: { duration_ms: 12_000 },
        }),
    })
    .meta({ id: 'TriggerEvent' })

export type TriggerInput = z.infer<ReturnType<typeof TriggerSchema>>
export type SeededView = z.infer<ReturnType<typeof SeededSchema>>
export type TestRunView = z.infer<ReturnType<typeof TestRunResult>>
export type SandboxTokenView = z.infer<ReturnType<typeof SandboxToken>>
