export {
  beginAddingPasskey,
  beginPresentingPasskey,
  leavesTimeForCeremony,
  listPasskeys,
  noPasskey,
  ownerOfPresented,
  presentPasskey,
  removePasskeyWrite,
  tooManyPasskeys,
  verifyAddedPasskey,
  verifyPresentedPasskey,
} from './ceremonies.ts'
export type { Passkey } from './entity.ts'
export { PASSKEY_REFUSALS, type PasskeyRefusal } from './refusals.ts'
export {
  AddPasskey,
  type AddPasskeyInput,
  PasskeyOptionsSchema,
  type PasskeyOptionsView,
  PasskeySchema,
  type PasskeyView,
  PresentPasskey,
  type PresentPasskeyInput,
} from './schemas.ts'
