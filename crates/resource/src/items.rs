//! Items of a page: its own, or a part of a slice that others share, which is copied only for a change.
//!
//! A list in memory gives its pages without copying a reference, and a cache knows a page again by
//! its address.

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::{mem, ptr, slice, vec};

/// The items of a page, in the order of the list.
#[derive(Debug)]
pub struct Items<T> {
    /// Empty if they are shared.
    own: Vec<Arc<T>>,
    shared: Option<SharedPart<T>>,
}

#[derive(Debug)]
struct SharedPart<T> {
    all: Arc<[Arc<T>]>,
    range: Range<usize>,
}

impl<T> Items<T> {
    /// The part `range` of `all`, which is shared.
    ///
    /// # Panics
    /// If the range does not lie in `all`.
    pub fn shared(all: &Arc<[Arc<T>]>, range: Range<usize>) -> Self {
        assert!(all.get(range.clone()).is_some(), "{range:?} of {}", all.len());
        Self { own: Vec::new(), shared: Some(SharedPart { all: Arc::clone(all), range }) }
    }

    /// The same items, for a cache: they keep no others in memory. Shared from now on, unless they
    /// are a part of more.
    #[must_use]
    pub fn share(&mut self) -> Self {
        if let Some(part) = self.shared.as_ref().filter(|part| part.len() < part.all.len()) {
            return Self::shared(&part.iter().cloned().collect(), 0..part.len());
        }
        if self.shared.is_none() {
            let all: Arc<[_]> = mem::take(&mut self.own).into();
            *self = Self::shared(&all, 0..all.len());
        }
        self.clone()
    }

    /// Whether both hold the very same items. What both share is not compared one by one.
    pub fn are_same(&self, other: &Self) -> bool {
        let (one, other): (&[_], &[_]) = (self, other);
        ptr::eq(one, other)
            || one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// The items as a vector of their own.
    pub fn to_mut(&mut self) -> &mut Vec<Arc<T>> {
        if let Some(part) = self.shared.take() {
            self.own = part.to_vec();
        }
        &mut self.own
    }

    /// Adds an item at the end.
    pub fn push(&mut self, item: Arc<T>) {
        self.to_mut().push(item);
    }

    /// Adds all items of `more` at the end. Items that are added to none stay shared.
    pub fn append(&mut self, more: Self) {
        if self.is_empty() {
            *self = more;
        } else if !more.is_empty() {
            self.to_mut().extend(more);
        }
    }

    /// Keeps the items for which `keeps` is true. Shared items of which all are kept stay shared.
    pub fn retain(&mut self, mut keeps: impl FnMut(&Arc<T>) -> bool) {
        let Some(part) = &self.shared else { return self.own.retain(keeps) };
        let Some(first) = part.iter().position(|item| !keeps(item)) else { return };
        let mut kept = part[..first].to_vec();
        kept.extend(part[first + 1..].iter().filter(|item| keeps(item)).cloned());
        *self = kept.into();
    }
}

impl<T> Deref for SharedPart<T> {
    type Target = [Arc<T>];

    fn deref(&self) -> &Self::Target {
        &self.all[self.range.clone()]
    }
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T> Clone for Items<T> {
    fn clone(&self) -> Self {
        let share = |part: &SharedPart<T>| Self::shared(&part.all, part.range.clone());
        self.shared.as_ref().map_or_else(|| self.own.clone().into(), share)
    }
}

impl<T> Deref for Items<T> {
    type Target = [Arc<T>];

    fn deref(&self) -> &Self::Target {
        self.shared.as_deref().unwrap_or(&self.own)
    }
}

/// Copies shared items.
impl<T> DerefMut for Items<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.to_mut()
    }
}

impl<T> From<Vec<Arc<T>>> for Items<T> {
    fn from(items: Vec<Arc<T>>) -> Self {
        Self { own: items, shared: None }
    }
}

impl<T> From<Items<T>> for Vec<Arc<T>> {
    fn from(mut items: Items<T>) -> Self {
        mem::take(items.to_mut())
    }
}

impl<T> FromIterator<Arc<T>> for Items<T> {
    fn from_iter<I: IntoIterator<Item = Arc<T>>>(items: I) -> Self {
        items.into_iter().collect::<Vec<_>>().into()
    }
}

impl<T> Extend<Arc<T>> for Items<T> {
    fn extend<I: IntoIterator<Item = Arc<T>>>(&mut self, more: I) {
        self.to_mut().extend(more);
    }
}

impl<T> IntoIterator for Items<T> {
    type Item = Arc<T>;
    type IntoIter = vec::IntoIter<Arc<T>>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Items<T> {
    type Item = &'a Arc<T>;
    type IntoIter = slice::Iter<'a, Arc<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Items<T> {
    type Item = &'a mut Arc<T>;
    type IntoIter = slice::IterMut<'a, Arc<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Items;

    fn numbers(numbers: impl IntoIterator<Item = u8>) -> Arc<[Arc<u8>]> {
        numbers.into_iter().map(Arc::new).collect()
    }

    fn values(items: &Items<u8>) -> Vec<u8> {
        items.iter().map(|item| **item).collect()
    }

    #[test]
    fn shared_items_are_copied_for_a_change_only() {
        let all = numbers(0..9);
        let mut items = Items::shared(&all, 2..5);
        items.retain(|item| **item < 9);
        let mut page = Items::default();
        page.append(items.clone());
        page.append(Items::default());
        assert_eq!(page.as_ptr(), all[2..].as_ptr());
        items.push(Arc::new(9));
        page.retain(|item| **item != 3);
        assert_eq!((values(&items), values(&page)), (vec![2, 3, 4, 9], vec![2, 4]));
        page.append(Items::shared(&all, 7..9));
        page[0] = Arc::new(1);
        assert_eq!((values(&page), *all[2], all.len()), (vec![1, 4, 7, 8], 2, 9));
    }

    #[test]
    fn each_item_is_judged_once_and_in_order() {
        let all = numbers(0..5);
        for mut items in [Items::shared(&all, 0..5), all.iter().cloned().collect()] {
            let mut judged = Vec::new();
            items.retain(|item| {
                judged.push(**item);
                **item % 2 == 0
            });
            assert_eq!((judged, values(&items)), (vec![0, 1, 2, 3, 4], vec![0, 2, 4]));
        }
    }

    #[test]
    fn the_same_items_are_the_same_wherever_they_are_held() {
        let mut page: Items<u8> = numbers(0..4).iter().cloned().collect();
        let copy = page.clone();
        let shared = page.share();
        assert_eq!(shared.as_ptr(), page.as_ptr());
        assert!(page.are_same(&shared) && page.are_same(&copy) && copy.are_same(&page));
        assert!(!page.are_same(&numbers(0..4).iter().cloned().collect()));
        assert!(
            !page.are_same(&Items::default())
                && Items::<u8>::default().are_same(&[].into_iter().collect())
        );
        let alone: Vec<Arc<u8>> = shared.into();
        assert_eq!(alone.len(), 4);
    }

    #[test]
    fn a_part_that_is_kept_keeps_no_others() {
        let all = numbers(0..9);
        let mut part = Items::shared(&all, 2..4);
        let kept = part.share();
        assert!(kept.are_same(&part));
        drop(part);
        assert_eq!((Arc::strong_count(&all), values(&kept)), (1, vec![2, 3]));
    }
}
