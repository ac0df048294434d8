export type { AdminWork, Moderator } from './actor.ts'
export { ADMINS } from './count.ts'
export { type Admin, AdminEntity, type AdminSession } from './entity.ts'
export { createAdminKey, deleteAdminKey, listAdminKeys, rotateAdminKey } from './keys.ts'
export { createAdmin, deleteAdmin, editAdmin } from './manage.ts'
export {
  addAdminPasskey,
  beginAdminPasskey,
  beginConfirming,
  confirmWithPasskey,
  confirmWithPassword,
  removeAdminPasskey,
  resetAdminPasskeys,
} from './passkeys.ts'
export { presentAdmin, presentAdminKey } from './present.ts'
export {
  AdminIdentitySchema,
  AdminKeySchema,
  AdminSchema,
  AdminSessionSchema,
  ChangePassword,
  ConfirmedSchema,
  ConfirmPassword,
  CreateAdmin,
  CreateAdminKey,
  EditAdmin,
  NewAdminKeySchema,
  type NextStep,
  RotateAdminKey,
  SignedInSchema,
  SignIn,
} from './schemas.ts'
export {
  confirmationOf,
  endAdminSession,
  endAllSessions,
  endOtherSessions,
  isAdminSessionLive,
  listAdminSessions,
  loadAdminSession,
  nextStepOf,
  presentAdminSession,
  presentOwnSession,
  requireSession,
} from './sessions.ts'
export { changePassword, findAdminByEmail, findAdminByKey, signIn } from './sign-in.ts'
