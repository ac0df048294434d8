import { inviteNewOwner } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { newSecret } from '#shared/kernel/secrets.ts'
import type { Admin, AdminWork } from '#shared/staff/admins/index.ts'
import {
  CreateAdmin,
  CreateAdminKey,
  createAdmin,
  createAdminKey,
  deleteAdminKey,
  editAdmin,
  findAdminByEmail,
  listAdminKeys,
  RotateAdminKey,
  resetAdminPasskeys,
  rotateAdminKey,
} from '#shared/staff/admins/index.ts'
import { OperatorError } from '../command.ts'

/** Options of a command. */
export interface Order {
  email?: string | undefined
  /** Id of the workspace whose owner is replaced. */
  workspace?: string | undefined
  name?: string | undefined
  role?: string | undefined
  /** The operator's password. Generated if absent. */
  password?: string | undefined
  key?: string | undefined
  days?: number | undefined
}

type Command = (work: AdminWork, order: Order) => Promise<string[]>

const recoverWorkspace: Command = async (work, { workspace }) => {
  if (workspace === undefined) throw new OperatorError('Give --workspace ws_….')
  const { start_parameter, expires_at, owners } = await inviteNewOwner(work, workspace)
  return [
    `Start parameter: ${start_parameter}`,
    'Send the new owner the link <url of GET /console/bot/info>?start=<start parameter>.',
    `It works once, until ${expires_at}. ${SHOWN_ONCE} Whoever opens it becomes the owner: verify the person first.`,
    owners.length === 0
      ? 'The workspace has no owner now.'
      : `These owners become members when it is accepted: ${owners.map(({ user_id }) => user_id).join(', ')}`,
  ]
}

const OPERATOR = 'operator'

const SHOWN_ONCE = 'It is shown this once.'

const create: Command = async (work, order) => {
  const { name, role = 'superadmin', password: given } = order
  const email = emailOf(order)
  const password = given ?? newSecret()
  const input = CreateAdmin().parse({ email, name: name ?? email, role, password })
  const admin = await createAdmin(work, OPERATOR, input)
  return [
    `${admin.id} is ${admin.role === 'superadmin' ? 'a superadmin' : 'a moderator'}: ${admin.email}`,
    ...showPassword(password, given),
  ]
}

const resetPassword: Command = async (work, { password: given, ...order }) => {
  const password = given ?? newSecret()
  const admin = await find(work, emailOf(order))
  await editAdmin(work, OPERATOR, admin.id, { password: CreateAdmin().shape.password.parse(password) })
  return [
    `${admin.email} has a new password; every session and every key of the account has ended.`,
    ...showPassword(password, given),
  ]
}

const resetPasskeys: Command = async (work, order) => {
  const admin = await find(work, emailOf(order))
  await resetAdminPasskeys(work, OPERATOR, admin.id)
  return [`${admin.email} has no passkey; every session of the account has ended. The next sign-in adds a new one.`]
}

/** Shows a generated password. The operator knows a given one, so it stays out of terminals and build logs. */
const showPassword = (password: string, given: string | undefined): string[] =>
  given === undefined ? [`Password: ${password}`, `${SHOWN_ONCE} Change it: POST /admin/me/password.`] : []

const key: Command = async (work, { name, days, ...order }) => {
  const admin = await find(work, emailOf(order))
  const input = CreateAdminKey().parse({
    name: name ?? 'operator',
    ...(days !== undefined && { expires_in_days: days }),
  })
  const made = await createAdminKey(work, OPERATOR, admin.id, input)
  return [`X-Admin-Key: ${made.key}`, `${made.id}, “${made.name}”, valid until ${made.expires_at}. ${SHOWN_ONCE}`]
}

const rotate: Command = async (work, order) => {
  const admin = await find(work, emailOf(order))
  const input = RotateAdminKey().parse(order.days === undefined ? {} : { expires_in_days: order.days })
  const made = await rotateAdminKey(work, OPERATOR, {
    adminId: admin.id,
    id: keyOf(order),
    days: input.expires_in_days,
  })
  return [
    `X-Admin-Key: ${made.key}`,
    `${made.id}, “${made.name}”, valid until ${made.expires_at}. The old one is refused. ${SHOWN_ONCE}`,
  ]
}

const removeKey: Command = async (work, order) => {
  const admin = await find(work, emailOf(order))
  await deleteAdminKey(work, OPERATOR, admin.id, keyOf(order))
  return [`${order.key} is refused from now on.`]
}

const keys: Command = async (work, order) => {
  const found = await listAdminKeys(work, (await find(work, emailOf(order))).id)
  const lines = found.map(({ id, name, expires_at }) => `${id}  ${iso(expires_at)}  ${name}`)
  return lines.length > 0 ? lines : ['There is none.']
}

/** Commands of `npm run admin`, by its first argument. */
export const COMMANDS: Record<string, Command> = {
  create,
  'reset-password': resetPassword,
  'reset-passkeys': resetPasskeys,
  key,
  keys,
  rotate,
  'remove-key': removeKey,
  'recover-workspace': recoverWorkspace,
}

const find = async (work: AdminWork, email: string): Promise<Admin> => {
  const admin = await findAdminByEmail(work, email.trim().toLowerCase())
  if (!admin)
    throw new OperatorError(`${email} has no admin account. Make one: npm run admin -- create --email ${email}`)
  return admin
}

const emailOf = ({ email }: Pick<Order, 'email'>): string => {
  if (email === undefined) throw new OperatorError('Give --email <address>.')
  return email
}

const keyOf = ({ key: id }: Order): string => {
  if (id === undefined) throw new OperatorError('Give --key aky_…; `keys` lists them.')
  return id
}
