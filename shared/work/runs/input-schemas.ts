import * as z from 'zod'
import { LIMITS } from '#shared/kernel/limits.ts'

const scalar = () => z.union([z.string().max(1_000), z.number(), z.boolean()])

/** One field of a question's form: a scalar, or one of given values. */
const field = () =>
  z
    .strictObject({
      type: z.enum(['string', 'number', 'integer', 'boolean']).optional(),
      title: z.string().max(200).optional(),
      description: z.string().max(1_000).optional(),
      default: scalar().optional(),
      enum: z.array(scalar()).min(1).max(100).optional(),
      minLength: z.number().int().min(0).max(LIMITS.answerCharacters).optional(),
      maxLength: z.number().int().min(0).max(LIMITS.answerCharacters).optional(),
      minimum: z.number().optional(),
      maximum: z.number().optional(),
      format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
    })
    .refine(({ type, enum: values }) => type !== undefined || values !== undefined, 'needs a type or an enum')

export type FormField = z.infer<ReturnType<typeof field>>

const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/

/** JSON Schema of the form in which a person answers: a flat object of scalars and enums. */
const formSchema = () =>
  z
    .strictObject({
      type: z.literal('object'),
      title: z.string().max(200).optional(),
      description: z.string().max(1_000).optional(),
      properties: z
        .record(z.string().regex(FIELD_NAME), field())
        .refine((all) => Object.keys(all).length <= LIMITS.fieldsPerQuestion, {
          error: `must have at most ${LIMITS.fieldsPerQuestion} fields`,
        }),
      required: z.array(z.string()).max(LIMITS.fieldsPerQuestion).optional(),
      additionalProperties: z.literal(false).optional(),
    })
    .refine(({ properties, required = [] }) => required.every((name) => Object.hasOwn(properties, name)), {
      error: 'must describe each required field in properties',
      path: ['required'],
    })
    .meta({ id: 'InputForm' })

export type FormSchema = z.infer<ReturnType<typeof formSchema>>

/** Form of a question without a schema. */
export const TEXT_FORM: FormSchema = {
  type: 'object',
  properties: { text: { type: 'string', title: 'Answer', maxLength: LIMITS.answerCharacters } },
}

const question = () =>
  z
    .strictObject({
      message: z.string().min(1).max(LIMITS.questionCharacters).meta({ example: 'Which warehouse do you mean?' }),
      schema: formSchema().optional(),
    })
    .meta({ id: 'InputQuestion' })

/** Request that an agent makes of an MCP client. The platform passes it through, so only the client knows its form. */
const clientRequest = () =>
  z
    .strictObject({
      method: z.enum(['elicitation/create', 'sampling/createMessage', 'roots/list']),
      params: z.record(z.string(), z.unknown()).default({}),
    })
    .meta({ id: 'InputClientRequest' })

/** A question, or a request to the MCP client that started the run. */
const inputRequest = () => z.union([question(), clientRequest()])

export type InputQuestion = z.infer<ReturnType<typeof inputRequest>>

const elicitation = () =>
  z.object({
    mode: z.literal('form').optional(),
    message: z.string().min(1).max(LIMITS.questionCharacters),
    requestedSchema: z.looseObject({}),
  })

/**
 * Returns the form in which a person answers. Undefined for a request that only the client can answer: for its model or
 * its files, for a page at an address, or with a form that goes beyond {@link FormSchema}.
 */
export const formOf = (question: InputQuestion): { message: string; schema?: FormSchema | undefined } | undefined => {
  if ('message' in question) return question
  if (question.method !== 'elicitation/create') return undefined
  const asked = elicitation().safeParse(question.params)
  if (!asked.success) return undefined
  const { $schema: _, ...described } = asked.data.requestedSchema
  const schema = formSchema().safeParse(described)
  return schema.success ? { message: asked.data.message, schema: schema.data } : undefined
}

const KEY = /^[A-Za-z0-9_-]{1,64}$/

/** Questions by key (contract/runs.md#questions). */
export const InputRequests = () =>
  z
    .record(z.string().regex(KEY, 'must be 1 to 64 letters, digits, _ or -'), inputRequest())
    .refine((all) => Object.keys(all).length >= 1 && Object.keys(all).length <= LIMITS.questionsPerCall, {
      error: `must have 1 to ${LIMITS.questionsPerCall} questions`,
    })
    .meta({
      description: 'Questions by key. A run uses each key once.',
      example: {
        warehouse: {
          message: 'Which warehouse do you mean?',
          schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
      },
    })

export type InputQuestions = Record<string, InputQuestion>

export const AskInput = () => z.strictObject({ input_requests: InputRequests() })

export const AskedInput = () =>
  z
    .object({
      step_id: z.string().meta({ description: 'The step that shows the questions and their answers.' }),
      expires_at: z
        .string()
        .meta({ description: 'The run fails with `input_timeout` then.', example: '2026-11-21T10:15:30.123+00:00' }),
    })
    .meta({ id: 'AskedInput' })

const response = () =>
  z.strictObject({
    action: z.enum(['accept', 'decline', 'cancel']),
    content: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'The filled form, for `accept`. Without a schema: `{text}`.' }),
  })

export type InputResponse = z.infer<ReturnType<typeof response>>

/** Answer of a person, or an MCP client's result of the method that the agent asked for. */
export type InputAnswer = InputResponse | Readonly<Record<string, unknown>>

export const AnswerInput = () =>
  z.strictObject({
    responses: z
      .record(z.string(), response())
      .refine((all) => Object.keys(all).length <= LIMITS.questionsPerCall * LIMITS.pendingInputs, {
        error: 'has too many keys',
      })
      .meta({
        description: 'Answers by key. Unknown and answered keys are ignored.',
        example: { warehouse: { action: 'accept', content: { name: 'North' } } },
      }),
  })

/** Unanswered questions of a run, as the console lists them. */
export const PendingInput = () =>
  z
    .object({
      step_id: z.string(),
      run_id: z.string(),
      installation_id: z.string(),
      agent: z.object({ id: z.string(), name: z.string() }),
      input_requests: z.record(z.string(), z.unknown()).meta({
        description:
          'The questions by key, each `{message, schema?}`. A request that only the MCP client can answer is `{method, params}`.',
      }),
      answered: z.array(z.string()).meta({ description: 'Keys that are answered already.' }),
      created_at: z.string(),
      expires_at: z.string(),
    })
    .meta({ id: 'PendingInput' })

/** Returns what is wrong with a filled form, as [field, message] pairs. */
export const formProblems = (
  { properties, required = [] }: FormSchema,
  content: Readonly<Record<string, unknown>>,
): [string, string][] => [
  ...required.filter((name) => !Object.hasOwn(content, name)).map((name): [string, string] => [name, 'is required']),
  ...Object.entries(content).flatMap(([name, value]): [string, string][] => {
    const problem = Object.hasOwn(properties, name)
      ? fieldProblem(properties[name] as FormField, value)
      : 'unknown field'
    return problem === undefined ? [] : [[name, problem]]
  }),
]

const TYPES: Record<NonNullable<FormField['type']>, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
}

const FORMATS: Record<NonNullable<FormField['format']>, RegExp> = {
  email: /^[^\s@]{1,64}@[^\s@]{1,255}$/,
  uri: /^[A-Za-z][A-Za-z0-9+.-]{0,30}:\S+$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/,
}

const fieldProblem = (schema: FormField, value: unknown): string | undefined => {
  const { type, enum: values, format } = schema
  if (type !== undefined && !TYPES[type](value)) return `must be of type ${type}`
  if (values && !(values as unknown[]).includes(value)) return `must be one of ${values.slice(0, 10).join(', ')}`
  if (typeof value === 'string') {
    const { minLength = 0, maxLength = LIMITS.answerCharacters } = schema
    if (value.length < minLength) return `must have at least ${minLength} characters`
    if (value.length > maxLength) return `must have at most ${maxLength} characters`
    if (format !== undefined && !FORMATS[format].test(value)) return `must be a valid ${format}`
  }
  if (typeof value === 'number') {
    if (schema.minimum !== undefined && value < schema.minimum) return `must be ${schema.minimum} or more`
    if (schema.maximum !== undefined && value > schema.maximum) return `must be ${schema.maximum} or less`
  }
  return undefined
}
