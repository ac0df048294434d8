export { findInRoster, NAMES_LOOKED_AT } from './find.ts'
export {
  DEVELOPER_STATUSES,
  developersBy,
  placeOfDeveloper,
  placeOfWorkspace,
  rosterWrites,
  WORKSPACE_STATUSES,
  workspacesBy,
} from './places.ts'
