export {
  beginAddingPasskey,
  beginPresentingPasskey,
  listPasskeys,
  noPasskey,
  ownerOfPresented,
  presentPasskey,
  removePasskeyWrite,
  tooManyPasskeys,
  verifyAddedPasskey,
  verifyPresentedPasskey,
} from './ceremonies.ts'
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
