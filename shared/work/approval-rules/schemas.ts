import * as z from 'zod'
import { idField } from '#shared/foundation/schemas/index.ts'
import { TOOL_NAMES } from '#shared/foundation/tools/index.ts'
import { ROLES } from '#shared/identity/people/index.ts'

const unique = (items: readonly string[]): boolean => new Set(items).size === items.length
const listOf = <S extends z.ZodType<string>>(item: S, most: number, description: string) =>
  z.array(item).max(most).refine(unique, 'must not repeat').default([]).meta({ description })

/** A host name, or `*.` and a name for all names below it. Without a port, and in the form in which requests show it. */
const HOST = /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$|^\[[0-9a-f:.]+\]$/

/** When a second person has to approve as well. */
const SecondPerson = () =>
  z.discriminatedUnion('when', [
    z.strictObject({ when: z.literal('always') }),
    z.strictObject({
      when: z.literal('at_least'),
      field: z
        .string()
        .regex(
          /^(body|query|headers)(\.[^.[\]\s]{1,60}){1,9}$/,
          'must be body, query or headers, and names with dots between them',
        )
        .meta({
          description:
            'Place of a number in the request, such as `body.amount`, `query.amount` or `headers.x-amount`. If it ' +
            'can’t be read without doubt, a second person has to approve.',
          example: 'body.amount',
        }),
      amount: z.number().meta({ example: 1_000 }),
    }),
  ])

/** One rule for approvals (contract/runs.md#approval-rules). */
export const ApprovalRule = () =>
  z
    .strictObject({
      name: z.string().trim().min(1).max(60).meta({ example: 'Payments' }),
      app_ids: listOf(
        z.string().max(64),
        50,
        'Only calls of the agents of these apps, also after an app is installed again. Empty: of any.',
      ),
      tools: listOf(z.enum(TOOL_NAMES), 50, 'Only calls of these tools. Empty: of any.'),
      hosts: listOf(
        z.string().max(253).toLowerCase().regex(HOST, 'must be a host name, or *. and a name, without a port'),
        50,
        'Only requests to these hosts. `*.example.com` is every name below it, but not itself. Empty: calls to any host, and to none.',
      ),
      approvers: z
        .strictObject({
          role: z.enum(ROLES).nullable().meta({ description: 'Members with at least this role may approve.' }),
          user_ids: listOf(z.string().max(64), 50, 'These members may approve, whatever their role.'),
        })
        .refine(({ role, user_ids }) => role !== null || user_ids.length > 0, 'must name a role or a person'),
      second_person: SecondPerson()
        .nullable()
        .default(null)
        .meta({ description: 'When a second person has to approve as well. Null: never.' }),
      requester_may_approve: z
        .boolean()
        .default(true)
        .meta({ description: 'Whether the person who started the run may approve its calls.' }),
      expires_after_minutes: z
        .number()
        .int()
        .min(5)
        .max(1_440)
        .default(1_440)
        .meta({ description: 'A call that nobody decides within this time is rejected.' }),
    })
    .meta({ id: 'ApprovalRule' })

export type ApprovalRule = z.infer<ReturnType<typeof ApprovalRule>>

const MOST_RULES = 50

export const SetApprovalRules = () =>
  z.strictObject({
    rules: z
      .array(ApprovalRule())
      .max(MOST_RULES)
      .refine((rules) => unique(rules.map(({ name }) => name)), 'must have different names'),
    revision: z
      .number()
      .int()
      .optional()
      .meta({ description: 'The `revision` that you read. If the rules have changed since, nothing is replaced.' }),
  })

const someone = () => z.object({ id: z.string(), name: z.string() })

export const ApprovalRulesSchema = () =>
  z
    .object({
      rules: z.array(ApprovalRule()),
      apps: z.array(z.object({ id: idField('app'), name: z.string(), is_installed: z.boolean() })).meta({
        description: 'Apps that the rules name. A rule about an app that isn’t installed applies once it is.',
      }),
      revision: z.number().int().meta({ description: 'Grows with every change; 0 before the first.' }),
      changed_by: someone().nullable(),
      changed_at: z.string().nullable(),
    })
    .meta({ id: 'ApprovalRules' })

export const SetAway = () =>
  z.strictObject({
    delegate_id: z.string().max(64).meta({ description: 'The member who approves in your place.' }),
    until: z.iso.datetime({ offset: true }).meta({ description: 'At most 90 days from now.' }),
  })

export const AwaySchema = () =>
  z
    .object({
      away: z
        .object({ delegate: someone(), until: z.string() })
        .nullable()
        .meta({ description: 'Your delegate, or null while you are here.' }),
      for: z
        .array(z.object({ person: someone(), until: z.string() }))
        .meta({ description: 'Members in whose place you approve.' }),
    })
    .meta({ id: 'Away' })
