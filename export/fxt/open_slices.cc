#include "export/fxt/open_slices.h"

#include <algorithm>

namespace gotrace::internal {

OpenSlice* OpenSlices::Add(const OpenSlice& slice) {
  Slices& slices = slice.is_region ? regions_ : ranges_[slice.name];
  slices.push_back(std::make_unique<OpenSlice>(slice));
  slices.back()->number = count_++;
  return slices.back().get();
}

OpenSlice* OpenSlices::LastRegion() { return regions_.empty() ? nullptr : regions_.back().get(); }

OpenSlice* OpenSlices::LastRange(StringId name) {
  const auto found = ranges_.find(name);
  return found == ranges_.end() ? nullptr : found->second.back().get();
}

void OpenSlices::Remove(OpenSlice* slice) {
  if (slice->is_region) return regions_.pop_back();
  const auto found = ranges_.find(slice->name);
  found->second.pop_back();
  if (found->second.empty()) ranges_.erase(found);
}

void OpenSlices::AddWritten(OpenSlice* slice) {
  slice->depth = written_.size();
  written_.push_back(slice);
}

std::vector<OpenSlice*> OpenSlices::RemoveWritten(OpenSlice* slice) {
  std::vector<OpenSlice*> inside(written_.rbegin(),
                                 written_.rend() - static_cast<ptrdiff_t>(slice->depth + 1));
  written_.resize(slice->depth);
  slice->depth = OpenSlice::kNotWritten;
  for (OpenSlice* other : inside) other->depth = OpenSlice::kNotWritten;
  return inside;
}

std::vector<OpenSlice*> OpenSlices::Sorted() {
  std::vector<OpenSlice*> all;
  const auto add = [&](const Slices& slices) {
    for (const std::unique_ptr<OpenSlice>& slice : slices) all.push_back(slice.get());
  };
  add(regions_);
  for (const auto& [name, slices] : ranges_) add(slices);
  std::sort(all.begin(), all.end(),
            [](const OpenSlice* a, const OpenSlice* b) { return a->number < b->number; });
  return all;
}

}  // namespace gotrace::internal
