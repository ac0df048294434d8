import * as z from 'zod'
import { TokenResponseSchema } from '#shared/access/oauth/index.ts'
import { idField } from '#shared/foundation/schemas/index.ts'
import { RunSchema } from '#shared/work/runs/index.ts'
import { appId } from '../outgoing/schemas.ts'

/** `POST /api/v1/dev/apps/{id}/test-run`. */
export const TestRun = () =>
  z
    .strictObject({
      input: z
        .record(z.string(), z.unknown())
        .default({})
        .meta({
          description: 'Passed to the agent as `run.input`.',
          example: { question: 'How many are in stock?' },
        }),
    })
    .meta({ id: 'TestRun' })

/** Response of a test run, whether or not the agent succeeded (contract/apps-and-manifests.md#test-runs). */
export const TestRunResult = () =>
  z
    .object({
      installation_id: idField('ins'),
      workspace_id: idField('ws'),
      agent: z.object({
        version: z.string().meta({ example: '1.0.0' }),
        runtime_type: z.enum(['webhook', 'inline', 'a2a']),
        endpoint: z.string().nullable(),
      }),
      run: RunSchema(),
    })
    .meta({ id: 'TestRunResult' })

/** The token response of the sandbox installation (contract/apps-and-manifests.md#sandbox-tokens). */
export const SandboxToken = () =>
  TokenResponseSchema()
    .extend({
      refresh_token: z.string().nullable().meta({
        description:
          'Replaced by every refresh. Null for a teammate in the portal, who asks for another token instead.',
        example: 'rft_…',
      }),
      agent_version: z.string().meta({ description: 'The installation’s version.', example: '1.0.0' }),
    })
    .meta({ id: 'SandboxToken' })

const count = () => z.number().int()

/** `POST /api/v1/dev/sandbox/seed`: number of records of each type after the seed. */
export const SeededSchema = () =>
  z
    .object({
      workspace_id: idField('ws'),
      tasks: count(),
      runs: count(),
      files: count(),
      folders: count(),
      notifications: count(),
      conversations: count().meta({ description: 'Includes the conversations of the tasks.' }),
      messages: count(),
      installations: count().meta({
        description: '1 if the sandbox had no agent and one was installed from the marketplace.',
      }),
    })
    .meta({ id: 'Seeded' })

/** `POST /api/v1/dev/sandbox/trigger`. */
export const TriggerSchema = () =>
  z
    .strictObject({
      app_id: appId(),
      type: z.string().min(1).max(120).meta({
        description: 'An event type from the catalogue, or `custom.<name>` for your own.',
        example: 'run.succeeded',
      }),
      data: z
        .record(z.string(), z.unknown())
        .default({})
        .meta({
          description: 'Fields that override those of the sample.',
          example: { duration_ms: 12_000 },
        }),
    })
    .meta({ id: 'TriggerEvent' })

export type TriggerInput = z.infer<ReturnType<typeof TriggerSchema>>

export type SeededView = z.infer<ReturnType<typeof SeededSchema>>

export type TestRunView = z.infer<ReturnType<typeof TestRunResult>>

export type SandboxTokenView = z.infer<ReturnType<typeof SandboxToken>>
