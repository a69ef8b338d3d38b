//! Meaning of lane descriptions: each lane's pc, and the active lanes.

use super::{Calls, Denote, MachineContents, NoMeaning};
use crate::model::ids::{LocId, ScopeId};
use crate::model::{Mask, Module};

impl Module {
    /// Returns each lane's pc while the wave is at `pc`, in the code of a function or inlined call: bytes from the
    /// function start. `None` for a lane that was not active on entry.
    ///
    /// * An active lane is at `pc`.
    /// * An inactive lane waits at the pc of the innermost region whose mask contains it.
    ///
    /// # Errors
    /// The reason why a mask has no meaning with these contents.
    pub fn lane_pcs(
        &self,
        scope: ScopeId,
        pc: u64,
        contents: &dyn MachineContents,
    ) -> Result<Vec<Option<u64>>, NoMeaning> {
        let mut standing = vec![None; self.target.lanes() as usize];
        // The innermost region comes first below, so that a lane keeps the first pc that it gets.
        let mut stand = |mask: u64, pc: u64| {
            let lanes = standing.iter_mut().enumerate();
            for (_, lane) in lanes.filter(|(lane, at)| mask >> lane & 1 == 1 && at.is_none()) {
                *lane = Some(pc);
            }
        };
        stand(self.active_lanes(scope, pc, contents)?, pc);
        for region in self.regions_at(scope, pc) {
            let masks = self.masks(region);
            let before = masks.partition_point(|mask| mask.pcs().start <= pc);
            let mask = masks[..before].last().filter(|mask| mask.pcs().contains(&pc));
            let mask: &Mask = mask.ok_or(NoMeaning::Malformed)?;
            stand(self.mask_of_lanes(scope, mask.loc, contents)?, self.region(region).waits_at());
        }
        Ok(standing)
    }

    /// Returns the active lanes' mask while the wave is at `pc`: bit *k* for lane *k*. The mask is EXEC, except in
    /// whole-wave code, which has a separate mask.
    ///
    /// # Errors
    /// The reason why a mask has no meaning with these contents.
    pub fn active_lanes(
        &self,
        scope: ScopeId,
        pc: u64,
        contents: &dyn MachineContents,
    ) -> Result<u64, NoMeaning> {
        let function = self.function_of(scope).ok_or(NoMeaning::Malformed)?;
        if let Some(whole_wave) = self.whole_wave_at(function, pc) {
            return self.mask_of_lanes(scope, whole_wave.mask.loc, contents);
        }
        let exec = self.target.exec().ok_or(NoMeaning::Malformed)?;
        let mask = contents.register(exec, 0, self.target.lanes());
        mask.ok_or_else(|| NoMeaning::Unreadable("EXEC".into()))
    }

    /// Returns the number in a mask, with one bit per lane.
    fn mask_of_lanes(
        &self,
        scope: ScopeId,
        loc: LocId,
        contents: &dyn MachineContents,
    ) -> Result<u64, NoMeaning> {
        let function = self.function_of(scope).ok_or(NoMeaning::Malformed)?;
        let meaning = self.meaning(Some(function), loc)?;
        let denote = Denote { of: &meaning, contents, calls: &Calls::default() };
        let mask = denote.read(meaning.root, self.target.lanes())?;
        denote.is_whole()?;
        Ok(mask)
    }
}
